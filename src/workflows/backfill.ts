import {
  ApplicationFailure,
  CancelledFailure,
  CancellationScope,
  isCancellation,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenedRun } from '../activities/open-run.js';
import type { WorkPage } from '../domain/plan.js';
import { FailureType } from '../domain/failure.js';
import type { BackfillResult, PartitionFailedDetails, VerificationFailedDetails } from '../domain/outcome.js';
import { ledger } from './activities.js';
import type { Carried } from './carried.js';
import { open } from './open.js';
import { Tracker } from './tracker.js';
import { verify } from './verify.js';
import { writePage } from './write-page.js';

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
    const after = await writeOrClose(run, page, tracker);
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

/** A run that may not go on is closed here; a cancel has its own way. */
async function writeOrClose(run: OpenedRun, page: WorkPage, tracker: Tracker): Promise<number | null> {
  try {
    return await writePage(run, page, tracker);
  } catch (error) {
    if (!isCancellation(error)) await close(run, tracker, 'failed');
    throw error;
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
