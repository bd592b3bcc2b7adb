import { parsePruneRequest } from '../config/prune-request.js';
import type { PruneCounts, PruneResult } from '../domain/prune.js';
import { countPrunable, pruneBatch as pruneBatchInLedger } from '../postgres/ledger/prune.js';
import { type Dependencies, inLedger } from './dependencies.js';

/**
 * Counts what would be deleted.
 * @param request as it came: from the Temporal CLI it may be anything
 * @throws {InvalidRequest}
 */
export async function planPrune(deps: Dependencies, { request }: { readonly request: unknown }): Promise<PruneResult> {
  const { before, dryRun } = parsePruneRequest(request, deps.now());
  const counts = await inLedger(deps, (tx) => countPrunable(tx, before), { readOnly: true });
  return { before: before.toISOString(), dryRun, counts };
}

/** Deletes some of it, in one transaction. */
export function pruneBatch(deps: Dependencies, { before }: { readonly before: string }): Promise<PruneCounts> {
  return inLedger(deps, (tx) => pruneBatchInLedger(tx, new Date(before)));
}
