import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType } from '../domain/failure.js';
import { runChecks } from './checks.js';
import type { Tx } from './database.js';
import { type Rows, countRows, wroteRows } from './row-writers.js';
import type { Target } from './target.js';

export interface Settling {
  readonly definition: Definition;
  /** Quoted name of the table, or of a partition that is not attached yet. */
  readonly into: string;
  /** Triggers may wait for the commit. */
  readonly hasDeferred: boolean;
  /** Rows that the build gave. */
  readonly built: number;
  /** Those of them that were right before, and keep the number of the transaction that wrote them. */
  readonly kept: number;
  /** Rows that should not be there, if there are more than that, and the statement that would take them away. */
  readonly surplus: { readonly rows: Rows; readonly remove: string };
}

export interface Settled {
  readonly rowsAfter: number;
  /** Whether all other rows carry this transaction's number; those that a trigger wrote in a subtransaction do not. */
  readonly isOurs: boolean;
}

/**
 * Demands what the new rows must meet: the checks, and that there are as many as were built, or that triggers of this
 * transaction made the difference.
 * @throws {BackfillError} CheckFailed, RowsStay, Transient (another session's rows)
 */
export async function settle(tx: Tx, target: Target, settling: Settling): Promise<Settled> {
  const { definition, into, hasDeferred, built, kept, surplus } = settling;
  // What they write is counted, and they find names as the definition does.
  if (hasDeferred) await tx.query('set constraints all immediate');
  const { total, others } = await runChecks(tx, target, definition, into);
  const isOurs = others === kept;
  // Triggers may have added rows, or taken some away.
  if (total !== built && !isOurs) {
    await tx.goOnAsSelf();
    if (!(await wroteRows(tx, target, surplus.rows))) throw await rowsOfOthers(tx, target, { ...settling, total });
  }
  return { rowsAfter: total, isOurs };
}

/** Rows of another session, which the next attempt deletes; or rows that a trigger does not let go. */
async function rowsOfOthers(
  tx: Tx,
  target: Target,
  { built, total, surplus }: Pick<Settling, 'built' | 'surplus'> & { readonly total: number },
): Promise<BackfillError> {
  const { key } = target.partition;
  // The transaction is going to be rolled back in any case.
  await tx.asUser(() => tx.query(surplus.remove));
  const isOther = (await countRows(tx, target, surplus.rows)) === 0;
  const why = isOther ? 'something else writes this partition' : 'a trigger of the table keeps rows from being deleted';
  return new BackfillError({
    type: isOther ? FailureType.Transient : FailureType.RowsStay,
    message: `${key}: the build gave ${built} rows and ${total} are there; ${why}`,
  });
}
