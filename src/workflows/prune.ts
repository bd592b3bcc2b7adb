import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import { NOTHING_PRUNED, type PruneCounts, type PruneResult, addPruned, totalPruned } from '../domain/prune.js';
import { ledger, planning } from './activities.js';
import { asRunFailure } from './failures.js';

/**
 * Deletes old rows of the ledger, a batch at a time, each in a transaction of its own.
 * @param request a PruneRequest; anything else fails the run as InvalidRequest
 * @param carried only what this workflow hands to itself
 */
export async function prune(request: unknown = null, carried?: PruneCounts): Promise<PruneResult> {
  try {
    const { before, dryRun, counts } = await planning.planPrune({ request });
    if (dryRun) return { before, dryRun, counts };
    return await pruneAll(before, handedOn(carried));
  } catch (error) {
    throw asRunFailure(error);
  }
}

async function pruneAll(before: string, carried: PruneCounts): Promise<PruneResult> {
  let done = carried;
  for (;;) {
    const batch = await ledger.pruneBatch({ before });
    if (totalPruned(batch) === 0) return { before, dryRun: false, counts: done };
    done = addPruned(done, batch);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof prune>({ before }, done);
  }
}

function handedOn(carried: PruneCounts | undefined): PruneCounts {
  return workflowInfo().continuedFromExecutionRunId === undefined ? NOTHING_PRUNED : (carried ?? NOTHING_PRUNED);
}
