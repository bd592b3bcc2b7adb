import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType } from '../domain/failure.js';
import { runChecks } from './checks.js';
import type { Tx } from './database.js';
import { countRows, deleteText, insertBuild } from './strategies/delete-insert.js';
import type { Target } from './target.js';

export interface Filling {
  readonly definition: Definition;
  readonly rowsBefore: number;
  /** Quoted name of the table, or of a partition that is not attached yet. */
  readonly into: string;
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
export async function fill(tx: Tx, target: Target, { definition, rowsBefore, into }: Filling): Promise<Filled> {
  const { key } = target.partition;
  const rowsAfter = await insertBuild(tx, target, definition.build, into);
  if (rowsAfter === 0 && definition.whenEmpty === 'fail') {
    throw new BackfillError({
      type: FailureType.EmptyBuild,
      message: `${key}: the build gives no row, and whenEmpty is "fail"; the ${rowsBefore} old rows stay`,
    });
  }
  const { total, others } = await runChecks(tx, target, definition, into);
  if (total !== rowsAfter) throw await otherRows(tx, target, { rowsAfter, total });
  return { rowsAfter, isOurs: others === 0 };
}

/** Rows of another session, which the next attempt deletes; or rows that a trigger does not let go. */
async function otherRows(
  tx: Tx,
  target: Target,
  { rowsAfter, total }: { readonly rowsAfter: number; readonly total: number },
): Promise<BackfillError> {
  const { key } = target.partition;
  // The transaction is going to be rolled back in any case.
  await tx.query(deleteText(target));
  const isOther = (await countRows(tx, target)) === 0;
  const why = isOther ? 'something else writes this partition' : 'a trigger of the table keeps rows from being deleted';
  return new BackfillError({
    type: isOther ? FailureType.Transient : FailureType.RowsStay,
    message: `${key}: ${rowsAfter} rows were inserted and ${total} are there; ${why}`,
  });
}
