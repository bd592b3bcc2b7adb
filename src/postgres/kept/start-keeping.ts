import type { Definition } from '../../domain/definition.js';
import { BackfillError, FailureType } from '../../domain/failure.js';
import type { UndoFacts } from '../../domain/undo.js';
import { readTable } from '../catalog.js';
import type { Tx } from '../database.js';
import { readKept, recordKept } from '../ledger/kept.js';
import type { StoredPlan } from '../ledger/plans.js';
import { makeCopy, readyCopy, storedColumns } from './copy.js';

/**
 * Makes the copy of a run that is being opened, unless it has one. Here, and not with the first replacement that needs
 * it: those may go side by side, and would wait for each other.
 */
export async function startKeeping(
  tx: Tx,
  { table, partitioning }: Definition,
  { planId, keep }: Pick<StoredPlan, 'planId' | 'keep'>,
): Promise<void> {
  if (!keep) return;
  const found = await readKept(tx, planId);
  if (found && !found.isDropped) return;
  const facts = await readTable(tx, table);
  if (!facts) return;
  const columns = storedColumns(facts);
  const relation = keep.hasCopy ? await makeCopy(tx, table, { planId, columns }) : null;
  await recordKept(tx, { planId, relation, columns, partitioning, forMs: keep.forMs });
}

/**
 * Makes sure that what a run is going to put back stays until its end.
 * @throws {BackfillError} PlanDrift: it is gone
 */
export async function demandKept(tx: Tx, { planId, workflowId, relation }: UndoFacts): Promise<void> {
  const kept = await readKept(tx, planId, true);
  if (!kept || kept.isDropped) {
    const message = `What ${workflowId} replaced is not kept any more: its time was over`;
    throw new BackfillError({ type: FailureType.PlanDrift, message });
  }
  if (relation !== null) await readyCopy(tx, relation);
}
