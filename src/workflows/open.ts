import { CancellationScope, CancelledFailure, uuid4, workflowInfo } from '@temporalio/workflow';
import type { OpenedRun } from '../activities/open-run.js';
import { FailureType } from '../domain/failure.js';
import { ledger, planning, waiting } from './activities.js';
import { asRunFailure, failureInfo, wasCancelled } from './failures.js';
import type { Tracker } from './tracker.js';

interface Attempted {
  planId?: string;
}

/** Plans, unless a stored plan is asked for, and opens the run; waits for its range where that was asked for. */
export async function open(request: unknown, tracker: Tracker): Promise<OpenedRun> {
  const attempted: Attempted = {};
  try {
    const run = await planAndOpen(request, tracker, attempted);
    tracker.opened(run);
    return run;
  } catch (error) {
    const isCancelled = wasCancelled(error);
    tracker.turnTo(isCancelled ? 'cancelled' : 'failed');
    if (isCancelled) {
      await closeHalfOpened(attempted);
      throw new CancelledFailure('The run was cancelled before it was open');
    }
    throw asRunFailure(error);
  }
}

/** After a wait it plans anew: the run that was waited for has written what the first plan was computed from. */
async function planAndOpen(request: unknown, tracker: Tracker, attempted: Attempted): Promise<OpenedRun> {
  const { workflowId, firstExecutionRunId: executionId } = workflowInfo();
  const { reason, requestedBy, onOverlap } = asides(request);
  for (;;) {
    const { planId } = await planning.makePlan({ planId: uuid4(), request });
    attempted.planId = planId;
    try {
      return await planning.openRun({ planId, workflowId, executionId, reason, requestedBy });
    } catch (error) {
      const { type, message } = failureInfo(error);
      if (type !== FailureType.Overlap || onOverlap !== 'wait') throw error;
      tracker.waits(message);
      await waiting.awaitUnclaimed({ planId, executionId });
    }
  }
}

/** A cancel may have come when the run was just being opened. */
async function closeHalfOpened({ planId }: Attempted): Promise<void> {
  if (planId === undefined) return;
  const { firstExecutionRunId: executionId } = workflowInfo();
  await CancellationScope.nonCancellable(() => ledger.closeRun({ planId, executionId, state: 'cancelled' }));
}

/** The fields of a request that are no part of its plan. They were checked when the plan was made. */
function asides(request: unknown) {
  const { reason, requestedBy, onOverlap } = (request ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return { reason: text(reason), requestedBy: text(requestedBy), onOverlap };
}
