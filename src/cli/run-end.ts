import type { BackfillHandle } from '../client/backfill-handle.js';
import {
  PartitionFailed,
  RunCancelled,
  RunTerminated,
  ServerUnreachable,
  VerificationFailed,
} from '../client/errors.js';
import { type BackfillResult, exitCodes } from '../domain/outcome.js';
import type { RunEnd } from '../report/outcome-text.js';
import { type Outcome, describeError, outcomeOf } from './exit.js';

/** How a run ended, for the report, for scripts, and for the shell. */
export interface Settled {
  readonly outcome: Outcome;
  readonly exitCode: number;
  readonly end: RunEnd;
  /** Undefined where the run completed. */
  readonly error: unknown;
  /** `{ result }` or `{ error }`. */
  readonly json: object;
}

/** The outcome of a run that has ended. */
export async function settle(handle: BackfillHandle): Promise<Settled> {
  try {
    return completed(await handle.result());
  } catch (error) {
    // That is no outcome of the run.
    if (error instanceof ServerUnreachable) throw error;
    return notCompleted(error);
  }
}

function completed(result: BackfillResult): Settled {
  const end: RunEnd = { kind: 'completed', result };
  return { outcome: 'completed', exitCode: exitCodes.completed, end, error: undefined, json: { result } };
}

function notCompleted(error: unknown): Settled {
  const outcome = outcomeOf(error);
  return { outcome, exitCode: exitCodes[outcome], end: endOf(error), error, json: { error: describeError(error) } };
}

function endOf(error: unknown): RunEnd {
  if (error instanceof PartitionFailed) {
    const { planId, key, failure, failed, done, total } = error;
    return { kind: 'partition-failed', details: { planId, oldest: { key, ...failure }, failed, done, total } };
  }
  if (error instanceof VerificationFailed) {
    const { planId, count, differences } = error;
    return { kind: 'verification-failed', details: { planId, count, differences } };
  }
  if (error instanceof RunCancelled) return { kind: 'cancelled' };
  if (error instanceof RunTerminated) return { kind: 'ended-from-outside', how: error.how };
  return { kind: 'not-done', message: error instanceof Error ? error.message : String(error) };
}
