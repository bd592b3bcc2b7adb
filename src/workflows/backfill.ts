import {
  ApplicationFailure,
  CancelledFailure,
  CancellationScope,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenedRun } from '../activities/open-run.js';
import type { WorkPage } from '../domain/plan.js';
import { FailureType } from '../domain/failure.js';
import type { BackfillResult, PartitionFailedDetails, VerificationFailedDetails } from '../domain/outcome.js';
import { Pace } from '../domain/pace.js';
import { ledger } from './activities.js';
import type { Carried } from './carried.js';
import { asRunFailure, failedAttempt, failureInfo, wasCancelled } from './failures.js';
import { open } from './open.js';
import { Tracker } from './tracker.js';
import { verify } from './verify.js';
import { slidingWindow } from './window.js';
import { MayNotGoOn, Writer } from './writer.js';

/**
 * Replaces the partitions of a range, oldest first: plan, write page after page, read back, outcome.
 * @param request a BackfillRequest or a PlanRequest; anything else fails the run as InvalidRequest
 * @param carried only what this workflow hands to itself; given by anyone else it is ignored
 */
export async function backfill(request: unknown = null, carried?: Carried): Promise<BackfillResult> {
  // A cron, too, continues from an execution: only our own state knows by which one the chain began.
  const isOurs = carried?.run?.executionId === workflowInfo().firstExecutionRunId;
  const handedOn = workflowInfo().continuedFromExecutionRunId !== undefined && isOurs ? carried : undefined;
  const tracker = new Tracker(request, handedOn);
  const run = handedOn?.run ?? (await open(request, tracker));
  try {
    const page = await ledger.readWorkPage({ planId: run.planId, after: handedOn?.after ?? 0 });
    const after = await writePage(run, page, tracker);
    const goesOn = tracker.failures.count === 0 || run.options.onFailure === 'continue';
    if (after !== null && goesOn) await goOn(request, tracker.carry(run, after));
    return await finish(run, tracker);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return await endCancelled(run, tracker);
  }
}

/** The server keeps the memo of the start alone; by what was added to it since, people find the run and its plan. */
function goOn(request: unknown, carried: Carried): Promise<never> {
  return makeContinueAsNewFunc<typeof backfill>({ memo: workflowInfo().memo ?? {} })(request, carried);
}

/** @returns the position after which the next execution goes on, or null at the end of the plan */
async function writePage(run: OpenedRun, page: WorkPage, tracker: Tracker): Promise<number | null> {
  tracker.openPage(page);
  const { concurrency, onFailure } = run.options;
  const writer = new Writer(run);
  const pace = new Pace(run.total, concurrency);
  let ended: Error | undefined;
  let newest = 0;
  const next = await slidingWindow(
    page.partitions.filter(({ isDone }) => !isDone),
    concurrency,
    {
      mayStart: ({ seq }) => {
        const stopped = onFailure === 'stop' && tracker.failures.count > 0;
        // What a slice gave back is older than others that ended: the next execution would take up one that failed again.
        return !ended && !stopped && (seq < newest || !workflowInfo().continueAsNewSuggested);
      },
      take: (waiting) => pace.take(waiting),
      run: async (partitions) => {
        newest = Math.max(newest, partitions.at(-1)?.seq ?? 0);
        const { count, end } = await writeSlice(run, partitions, { writer, pace, tracker });
        ended ??= end;
        return count;
      },
    },
  );
  if (ended && !isCancellation(ended)) await close(run, tracker, 'failed');
  if (ended) throw ended;
  if (next) return next.seq - 1;
  return page.hasMore ? (page.partitions.at(-1)?.seq ?? null) : null;
}

interface Means {
  readonly writer: Writer;
  readonly pace: Pace;
  readonly tracker: Tracker;
}

/** What became of a slice. */
interface SliceEnd {
  /** Partitions that are done with, from the first on: written, or failed. */
  readonly count: number;
  /** What ends the run before its plan is at an end: a cancel, or that it may not go on. */
  readonly end?: Error;
}

async function writeSlice(run: OpenedRun, slice: WorkPage['partitions'], means: Means): Promise<SliceEnd> {
  const { writer, pace, tracker } = means;
  const keys = slice.map(({ key }) => key);
  const begun = Date.now();
  tracker.began(keys);
  try {
    const count = await writer.write(keys);
    pace.wrote({ asked: keys.length, written: count, ms: Date.now() - begun });
    tracker.wrote(keys, count);
    return { count };
  } catch (error) {
    pace.wrote({ asked: keys.length, written: 0, ms: Date.now() - begun });
    tracker.wrote(keys, 0);
    if (wasCancelled(error)) return { count: 0, end: new CancelledFailure('The run was cancelled') };
    if (error instanceof MayNotGoOn) return { count: 0, end: asRunFailure(error.cause) };
    await fail(run, slice[0], error, tracker);
    return { count: 1 };
  }
}

/** The first of a slice is the one that failed: an activity that meets trouble further on ends with those before. */
async function fail(
  { planId, table }: OpenedRun,
  partition: WorkPage['partitions'][number] | undefined,
  error: unknown,
  tracker: Tracker,
): Promise<void> {
  if (!partition) throw error;
  const { key, seq } = partition;
  const info = failureInfo(error);
  tracker.failed(key, seq, info);
  await record({ planId, table, key, info, attempt: failedAttempt(error) });
}

/** Writes a failure to the ledger. The workflow's own failure names it in any case. */
async function record(failure: Parameters<typeof ledger.recordFailure>[0]): Promise<void> {
  try {
    await CancellationScope.nonCancellable(() => ledger.recordFailure(failure));
  } catch (error) {
    log.warn('The failure could not be written to the ledger', { key: failure.key, error });
  }
}

async function finish(run: OpenedRun, tracker: Tracker): Promise<BackfillResult> {
  const { planId, table, from, to } = run;
  const { count, oldest } = tracker.failures;
  if (oldest) {
    const { done, total } = await close(run, tracker, 'failed');
    const details: PartitionFailedDetails = {
      planId,
      oldest: { key: oldest.key, ...oldest.info },
      failed: count,
      done,
      total,
    };
    throw failure(FailureType.PartitionFailed, `${table} ${oldest.key} failed: ${oldest.info.message}`, details);
  }
  tracker.turnTo('verifying');
  const { count: wrong, differences } = await verify(run);
  if (wrong > 0) {
    await close(run, tracker, 'failed');
    const details: VerificationFailedDetails = { planId, count: wrong, differences };
    const shown = differences
      .slice(0, 10)
      .map(
        ({ key, rowsRecorded, rowsFound, rowsOfOthers }) =>
          `${key} (${rowsFound} rows${rowsOfOthers > 0 ? `, ${rowsOfOthers} of them written by others` : ''}, recorded ${rowsRecorded})`,
      );
    throw failure(
      FailureType.VerificationFailed,
      `The last read of ${table} does not find what was written: ${shown.join(', ')}`,
      details,
    );
  }
  const { done, rowsBefore, rowsAfter, changes, emptied, keptUntil } = await close(run, tracker, 'completed');
  return { planId, table, from, to, partitions: done, rowsBefore, rowsAfter, changes, emptied, keptUntil };
}

async function close(
  { planId, executionId }: OpenedRun,
  tracker: Tracker,
  state: 'completed' | 'failed' | 'cancelled',
) {
  const totals = await CancellationScope.nonCancellable(() => ledger.closeRun({ planId, executionId, state }));
  tracker.turnTo(state);
  return totals;
}

/** The SQL has stopped by now: what was in flight was waited for. */
async function endCancelled(run: OpenedRun, tracker: Tracker): Promise<never> {
  const { done, total } = await close(run, tracker, 'cancelled');
  throw new CancelledFailure(`Cancelled; ${done} of ${total} partitions are written and stay so`, [
    { planId: run.planId, done, total },
  ]);
}

function failure(type: FailureType, message: string, details: object): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}
