import type { Changes } from './changes.js';
import type { FailureInfo } from './failure.js';

/** A run, by its plan and, where the ledger knows it still, its workflow id. */
export interface RunName {
  readonly planId: string;
  readonly workflowId: string | null;
}

/** One replacement of one partition: who wrote what, when, why. */
export interface HistoryEntry {
  readonly key: string;
  readonly generation: number;
  readonly action: 'created' | 'replaced';
  /** No later replacement is recorded. */
  readonly isCurrent: boolean;
  /** Built by another build than today's. */
  readonly isOutdated: boolean;
  readonly rowsBefore: number;
  readonly rowsAfter: number;
  /** Null where old and new rows were not compared. */
  readonly changes: Changes | null;
  /** The run whose replacement it took back; null where it built its rows. */
  readonly undoes: RunName | null;
  /** The run that took it back; null for none. */
  readonly undoneBy: RunName | null;
  readonly planId: string;
  readonly workflowId: string | null;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  /** The attempt that wrote it, from 1. */
  readonly attempt: number;
  readonly startedAt: string;
  readonly committedAt: string;
}

/** A place in a history, newest first. */
export interface HistoryCursor {
  readonly committedAt: string;
  readonly key: string;
  readonly generation: number;
}

export interface HistoryPage {
  readonly table: string;
  readonly entries: readonly HistoryEntry[];
  /** Where the next page begins; null at the end. */
  readonly next: HistoryCursor | null;
}

/** A partition that a run gave up on, with the last word on it. */
export type FailureRecord = { readonly key: string; readonly at: string; readonly attempt: number } & FailureInfo;

/** In the order of the plan. */
export interface FailuresPage {
  readonly failures: readonly FailureRecord[];
  /** The position in the plan after which the next page begins; null at the end. */
  readonly next: number | null;
}
