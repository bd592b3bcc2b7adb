import { type ActivityOptions, ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';

/** How the activities are called. The server's timers tick about once a second, so shorter waits mean nothing. */
const common = {
  // Five seconds until a dead worker is noticed, and until a cancel reaches the SQL.
  heartbeatTimeout: '5 s',
  startToCloseTimeout: '5 min',
  // Explicit: the default ends the workflow while the SQL still runs.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // No limit on attempts: a worker's shutdown uses one up. What is hopeless says so itself (non-retryable).
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
} as const satisfies ActivityOptions;

/** Before the run is open: someone is waiting for the answer. */
export const planning = proxyActivities<Activities>({ ...common, scheduleToCloseTimeout: '2 min' });

/** Once it is open, the run survives a database that is away for hours. */
export const ledger = proxyActivities<Activities>({ ...common, scheduleToCloseTimeout: '1 day' });

/** What may fail without harm is not waited for. */
export const optional = proxyActivities<Activities>({
  ...common,
  scheduleToCloseTimeout: '5 min',
  retry: { maximumAttempts: 2 },
});

/** Until a range is free: each look is one more attempt of one activity, so that hours of waiting make no history. */
export const waiting = proxyActivities<Activities>({ ...common, scheduleToCloseTimeout: '30 days' });

/** A statement of the last read has the time of one attempt, and some are made before it is enough. */
export function verifyingOptions({ attemptMs }: { readonly attemptMs: number }): ActivityOptions {
  return { ...common, startToCloseTimeout: attemptMs + 120_000, scheduleToCloseTimeout: '1 day' };
}

/**
 * Writing a slice, mostly of one partition. The id and the summary name it in the Web UI and for `temporal activity …`.
 * @param keys at least one
 */
export function sliceOptions(
  table: string,
  keys: readonly string[],
  times: { readonly attemptMs: number; readonly partitionMs: number },
): ActivityOptions {
  const [first = '', last = first] = [keys[0], keys.at(-1)];
  const name = first === last ? first : `${first}..${last}`;
  return {
    ...common,
    activityId: `${table}/${name}`,
    summary: name,
    // A minute more than the server's statement_timeout, so that PostgreSQL is the one that says what took so long. Of
    // several the last is begun while the others took a second together.
    startToCloseTimeout: times.attemptMs + 60_000,
    scheduleToCloseTimeout: times.partitionMs,
  };
}
