import type { Changes } from './changes.js';
import type { FailureInfo } from './failure.js';
import type { FailureRecord } from './history.js';

/** What one replacement did, as recorded in the ledger in its own transaction. */
export interface Replaced {
  readonly key: string;
  /** `already`: an earlier attempt had committed it; nothing was written now. */
  readonly status: 'replaced' | 'created' | 'already';
  readonly rowsBefore: number;
  readonly rowsAfter: number;
  readonly generation: number;
  /** Null where old and new rows were not compared. */
  readonly changes: Changes | null;
}

/** The result of a run that completed. */
export interface BackfillResult {
  readonly planId: string;
  readonly table: string;
  readonly from: string;
  readonly to: string;
  /** Partitions written under this plan, those of earlier executions included. */
  readonly partitions: number;
  readonly rowsBefore: number;
  readonly rowsAfter: number;
  /** Over the partitions in which old and new rows were compared, or there was no old one; null where there was none such. */
  readonly changes: (Changes & { readonly partitions: number }) | null;
  /** Partitions that had rows before and have none now: at most 100, oldest first. */
  readonly emptied: readonly { readonly key: string; readonly rowsBefore: number }[];
  /** ISO 8601: until then an undo can put back what the run replaced; null where nothing is kept. */
  readonly keptUntil: string | null;
}

/** Details of the failure `PartitionFailed`. */
export interface PartitionFailedDetails {
  readonly planId: string;
  readonly oldest: { readonly key: string } & FailureInfo;
  readonly failed: number;
  readonly done: number;
  readonly total: number;
}

/** Details of the failure `VerificationFailed`: what the ledger says and what is there, oldest first, at most 100. */
export interface VerificationFailedDetails {
  readonly planId: string;
  readonly count: number;
  readonly differences: readonly Difference[];
}

export interface Difference {
  readonly key: string;
  readonly rowsRecorded: number;
  readonly rowsFound: number;
  /** Of those found: written by something else than the recorded replacement. */
  readonly rowsOfOthers: number;
}

/** What the ledger knows of a run. */
export interface RunRecord {
  readonly planId: string;
  readonly table: string;
  readonly from: string;
  readonly to: string;
  readonly workflowId: string;
  readonly state: 'open' | 'completed' | 'failed' | 'cancelled' | 'abandoned';
  readonly requestedBy: string | null;
  readonly reason: string | null;
  readonly openedAt: string;
  readonly closedAt: string | null;
  readonly total: number;
  readonly done: number;
  /** Oldest first, at most 500. */
  readonly replacements: readonly (Replaced & { readonly attempt: number; readonly committedAt: string })[];
  /** As they came, those that a retry repaired included: at most 100, and fewer where they are long. */
  readonly failures: readonly FailureRecord[];
}

/** The exit code of the command for each way a run can end. */
export const exitCodes = { completed: 0, failed: 1, refused: 2, cancelled: 3 } as const;
