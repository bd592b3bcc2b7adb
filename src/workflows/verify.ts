import { isCancellation, log } from '@temporalio/workflow';
import type { OpenedRun } from '../activities/open-run.js';
import type { Difference } from '../domain/outcome.js';
import { ledger, optional, verifyingOptions } from './activities.js';

/** Differences that are named; the rest is counted. */
const MOST_NAMED = 100;

/** The last read of every partition of the plan, a page at a time, while the planner's statistics are refreshed. */
export async function verify(run: OpenedRun): Promise<{ count: number; differences: Difference[] }> {
  // Side by side: each takes as long as the other, and neither looks at what the other does.
  const [refreshed, read] = await Promise.allSettled([refreshStatistics(run), readBack(run)]);
  // A cancel: by now the SQL of both has stopped.
  if (refreshed.status === 'rejected') throw refreshed.reason;
  if (read.status === 'rejected') throw read.reason;
  return read.value;
}

async function readBack(run: OpenedRun): Promise<{ count: number; differences: Difference[] }> {
  const { planId } = run;
  const differences: Difference[] = [];
  let count = 0;
  for (let after: number | null = 0; after !== null;) {
    const page: Awaited<ReturnType<typeof ledger.verifyPage>> = await ledger.verifyPage.executeWithOptions(
      verifyingOptions(run),
      [{ planId, after }],
    );
    count += page.differences.length;
    differences.push(...page.differences.slice(0, MOST_NAMED - differences.length));
    after = page.next;
  }
  return { count, differences };
}

/** Stale statistics make queries slow and never wrong, so that a failure here does not fail the run. */
async function refreshStatistics({ planId, table }: OpenedRun): Promise<void> {
  try {
    await optional.refreshStatistics({ planId, table });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('The statistics could not be refreshed', { table, error });
  }
}
