/** Which partitions of the range to write. `failed`: a run's last word on it was a failure; `outdated`: by another build. */
export const selections = ['all', 'missing', 'missing-or-empty', 'failed', 'outdated'] as const;
export type Selection = (typeof selections)[number];

/** `any-order`: partitions become visible as they get ready, not oldest first. */
export const publishModes = ['in-order', 'any-order'] as const;
export type PublishMode = (typeof publishModes)[number];

/** What a run does after a partition failed: start no other, or go on with the rest. It ends as failed in both. */
export const failureModes = ['stop', 'continue'] as const;
export type FailureMode = (typeof failureModes)[number];

/** What a run does when another one has a part of its range. */
export const overlapModes = ['refuse', 'wait'] as const;
export type OverlapMode = (typeof overlapModes)[number];

/**
 * The request as people write it. `from` and `to` are keys, both included; or dates, of which `to` is included as a whole
 * day: for hours all those of the days, for longer partitions those that begin and end with them.
 */
export interface BackfillRequest {
  readonly table: string;
  readonly from: string;
  readonly to: string;
  /** Take partitions whole that the range cuts; the plan says so. Default: such a range is refused. */
  readonly widen?: boolean;
  readonly select?: Selection;
  /** Keys to leave alone. */
  readonly exclude?: readonly string[];
  /** Partitions in flight at once, 1..100. Default 1. */
  readonly concurrency?: number;
  readonly publish?: PublishMode;
  readonly onFailure?: FailureMode;
  /** Write the partition that has not ended yet, and record it as provisional. */
  readonly allowIncomplete?: boolean;
  /** Default `refuse`. It decides when the run begins, not what it writes, and is no part of the plan. */
  readonly onOverlap?: OverlapMode;
  readonly reason?: string;
  readonly requestedBy?: string;
}

/** Run a stored plan: the one that was shown, or what an earlier run left unfinished of it. */
export interface PlanRequest {
  readonly plan: string;
  /** Plan the unfinished partitions anew with today's definition. */
  readonly replan?: boolean;
  readonly onOverlap?: OverlapMode;
  readonly reason?: string;
  readonly requestedBy?: string;
}

/** The options of a run, with every default filled in. They are part of a plan and of its digest. */
export interface RunOptions {
  readonly select: Selection;
  readonly exclude: readonly string[];
  readonly concurrency: number;
  readonly publish: PublishMode;
  readonly onFailure: FailureMode;
  readonly allowIncomplete: boolean;
}
