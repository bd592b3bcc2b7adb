import type { DroppedCopy } from '../../domain/sweep.js';
import type { Tx } from '../database.js';
import { lockOverdue, recordDropped } from '../ledger/kept.js';
import { quoteCopy } from './copy.js';

/**
 * Drops what a run has kept, and records that. Only what the ledger names is dropped; a table that merely looks like a
 * copy is somebody else's. Null where it is gone, may not go yet, or is being put back.
 */
export async function dropCopy(tx: Tx, planId: string): Promise<DroppedCopy | null> {
  const found = await lockOverdue(tx, planId);
  if (!found) return null;
  const { table, relation, bytes } = found;
  if (relation !== null) await tx.query(`drop table if exists ${quoteCopy(tx.ledger, relation)}`);
  await recordDropped(tx, planId);
  return { planId, table, bytes };
}
