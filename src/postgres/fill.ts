import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType } from '../domain/failure.js';
import { runChecks } from './checks.js';
import type { Tx } from './database.js';
import { wroteAllRows } from './row-writers.js';
import { countRows, deleteText, insertBuild } from './strategies/delete-insert.js';
import type { Target } from './target.js';

export interface Filling {
  readonly definition: Definition;
  readonly rowsBefore: number;
  /** Quoted name of the table, or of a partition that is not attached yet. */
  readonly into: string;
  /** Triggers may wait for the commit. */
  readonly hasDeferred: boolean;
}

export interface Filled {
  readonly rowsAfter: number;
  /** Whether the rows carry this transaction's number; those that a trigger wrote in a subtransaction do not. */
  readonly isOurs: boolean;
}

/**
 * Inserts what the build gives into a partition whose rows were deleted, and demands what the new rows must meet. It runs
 * where SQL of the definition finds its names.
 * @throws {BackfillError} EmptyBuild, CheckFailed, RowsStay, Transient (another session's rows)
 * @throws {StrayRow}
 */
export async function fill(tx: Tx, target: Target, filling: Filling): Promise<Filled> {
  const { inserted, total, others } = await insertAndCheck(tx, target, filling);
  const isOurs = others === 0;
  // Triggers may have added rows, or taken some away.
  if (total !== inserted && !isOurs) {
    await tx.goOnAsSelf();
    if (!(await wroteAllRows(tx, target))) throw await otherRows(tx, target, { inserted, total });
  }
  return { rowsAfter: total, isOurs };
}

async function insertAndCheck(tx: Tx, target: Target, { definition, rowsBefore, into, hasDeferred }: Filling) {
  const { key } = target.partition;
  const inserted = await insertBuild(tx, target, definition.build, into);
  if (inserted === 0 && definition.whenEmpty === 'fail') {
    throw new BackfillError({
      type: FailureType.EmptyBuild,
      message: `${key}: the build gives no row, and whenEmpty is "fail"; the ${rowsBefore} old rows stay`,
    });
  }
  // What they write is counted, and they find names as the definition does.
  if (hasDeferred) await tx.query('set constraints all immediate');
  return { inserted, ...(await runChecks(tx, target, definition, into)) };
}

/** Rows of another session, which the next attempt deletes; or rows that a trigger does not let go. */
async function otherRows(
  tx: Tx,
  target: Target,
  { inserted, total }: { readonly inserted: number; readonly total: number },
): Promise<BackfillError> {
  const { key } = target.partition;
  // The transaction is going to be rolled back in any case.
  await tx.asUser(() => tx.query(deleteText(target)));
  const isOther = (await countRows(tx, target)) === 0;
  const why = isOther ? 'something else writes this partition' : 'a trigger of the table keeps rows from being deleted';
  return new BackfillError({
    type: isOther ? FailureType.Transient : FailureType.RowsStay,
    message: `${key}: ${inserted} rows were inserted and ${total} are there; ${why}`,
  });
}
