import type { OpenedRun } from '../activities/open-run.js';
import type { FailureInfo } from '../domain/failure.js';
import type { Completions } from '../domain/progress.js';

/** What continue-as-new hands on. Small plain data: the partitions themselves stay in the ledger. */
export interface Carried {
  readonly run: OpenedRun;
  /** The position in the plan after which to go on. */
  readonly after: number;
  readonly done: number;
  readonly failures: {
    readonly count: number;
    readonly oldest: { readonly key: string; readonly seq: number; readonly info: FailureInfo } | null;
  };
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** For the rate. */
  readonly recent: readonly Completions[];
}
