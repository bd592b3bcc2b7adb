import type { DroppedCopy } from '../domain/sweep.js';
import { dropCopy as dropInDatabase } from '../postgres/kept/drop-copy.js';
import { type Overdue, readOverdue } from '../postgres/ledger/kept.js';
import { findRun } from '../postgres/ledger/runs.js';
import { isLiveRun } from './claim.js';
import { type Dependencies, inLedger } from './dependencies.js';

/** One sweep's worth; a table has seldom more than one run a day, and its copy goes after days. */
const MOST_DROPPED = 500;

/** Copies whose time is over. */
export function findOverdue(deps: Dependencies): Promise<Overdue[]> {
  return inLedger(deps, (tx) => readOverdue(tx, MOST_DROPPED), { readOnly: true });
}

/**
 * Drops a copy, if its time is over still. That of a run which goes on is left: it may be about to write there. Null
 * where nothing was dropped.
 */
export async function dropCopy(
  deps: Dependencies,
  { planId }: { readonly planId: string },
): Promise<DroppedCopy | null> {
  const run = await inLedger(deps, (tx) => findRun(tx, planId), { readOnly: true });
  if (run?.state === 'open' && (await isLiveRun(deps, run))) return null;
  return inLedger(deps, (tx) => dropInDatabase(tx, planId));
}
