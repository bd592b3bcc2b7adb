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
  /** Go on with a worker whose definition is another than the plan's. Default: the run stops at that partition. */
  readonly allowDefinitionChange?: boolean;
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

/** Put back what the run of a plan replaced. */
export interface UndoRequest {
  /** The plan id of that run. */
  readonly undo: string;
  /** First and last partition, both included. Default: all that the run wrote. */
  readonly from?: string;
  readonly to?: string;
  readonly onOverlap?: OverlapMode;
  readonly reason?: string;
  readonly requestedBy?: string;
}

/** All that the workflow `backfill` may be asked for. */
export type AnyRequest = BackfillRequest | PlanRequest | UndoRequest;

/** Whether it is of an undo. */
export function isOfUndo(request: AnyRequest): request is UndoRequest {
  return 'undo' in request && typeof request.undo === 'string';
}

/** Whether it is of a stored plan. A plan of null or undefined is none: code that puts a request together may leave one. */
export function isOfStoredPlan(request: AnyRequest): request is PlanRequest {
  return 'plan' in request && typeof request.plan === 'string';
}

/** The options of a run, with every default filled in. They are part of a plan and of its digest. */
export interface RunOptions {
  readonly select: Selection;
  readonly exclude: readonly string[];
  readonly concurrency: number;
  readonly publish: PublishMode;
  readonly onFailure: FailureMode;
  readonly allowIncomplete: boolean;
  readonly allowDefinitionChange: boolean;
}
