import { BackfillError, FailureType } from '../../domain/failure.js';
import { copyColumns } from '../../domain/keep.js';
import { quoteIdentifier } from '../../domain/table-name.js';
import type { UndoFacts } from '../../domain/undo.js';
import type { Tx } from '../database.js';
import type { KeptRows } from '../ledger/admission.js';
import { quoteCopy } from './copy.js';

/**
 * Looks whether the copy has every row of a partition that is about to be put back: what is there now goes for it.
 * @throws {BackfillError} PlanDrift: somebody has written to the copy
 */
export async function demandWhole(tx: Tx, undo: UndoFacts & KeptRows, key: string): Promise<void> {
  const { relation, columns, workflowId, oldRows } = undo;
  if (relation === null) return;
  const own = copyColumns(columns.map(({ name }) => name));
  const { rows } = await tx.query<{ n: string }>(
    `select count(*) as n from ${quoteCopy(tx.ledger, relation)} where ${quoteIdentifier(own.key)} = $1 and not ${quoteIdentifier(own.isNew)}`,
    [key],
  );
  const found = Number(rows[0]?.n ?? 0);
  if (found >= oldRows) return;
  throw new BackfillError({
    type: FailureType.PlanDrift,
    message: `${key}: of the ${oldRows} rows that ${workflowId} replaced the copy ${relation} has ${found}; somebody has written to it`,
  });
}
