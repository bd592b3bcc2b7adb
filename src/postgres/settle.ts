import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType } from '../domain/failure.js';
import { runChecks } from './checks.js';
import type { Tx } from './database.js';
import { type Rows, wroteRows } from './row-writers.js';
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
  readonly surplus: Surplus;
}

/** Rows that should not be there, unless triggers of this transaction wrote them. */
interface Surplus {
  readonly rows: Rows;
  /** The statements that would take them away, or put them right. */
  readonly remove: string;
  /** Triggers may have kept some as they were, which no count tells. */
  readonly hasTriggers: boolean;
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
  // Nobody here deletes rows that were kept, but for triggers.
  if (others < kept && !surplus.hasTriggers) throw unlikeBuild(target, settling, total, FailureType.Transient);
  // Triggers may have added rows, or taken some away.
  if ((total !== built && !isOurs) || surplus.hasTriggers) {
    await tx.goOnAsSelf();
    if (!(await wroteRows(tx, target, surplus.rows))) throw await rowsOfOthers(tx, target, settling, total);
  }
  return { rowsAfter: total, isOurs };
}

/** Rows of another session, which the next attempt deletes; or rows that a trigger does not let go. */
async function rowsOfOthers(tx: Tx, target: Target, settling: Settling, total: number): Promise<BackfillError> {
  const { rows, remove } = settling.surplus;
  // The transaction is going to be rolled back in any case.
  await tx.asUser(() => tx.query(remove));
  const isOther = await wroteRows(tx, target, rows);
  return unlikeBuild(target, settling, total, isOther ? FailureType.Transient : FailureType.RowsStay);
}

function unlikeBuild(
  { partition: { key } }: Target,
  { built }: Settling,
  total: number,
  type: typeof FailureType.Transient | typeof FailureType.RowsStay,
): BackfillError {
  const why =
    type === FailureType.Transient
      ? 'something else writes this partition'
      : `a trigger of the table keeps rows from being ${total > built ? 'deleted' : 'changed'}`;
  return new BackfillError({
    type,
    message: `${key}: the build gave ${built} rows and ${total} are there; ${why}`,
  });
}
