import type { SqlTemplate, SqlText } from '../../domain/sql-template.js';
import { quoteIdentifier } from '../../domain/table-name.js';
import type { Tx } from '../database.js';
import { STAGED } from '../staged.js';
import { StrayRow, isStrayRow } from '../stray-rows.js';
import {
  type Target,
  builtKey,
  insertInto,
  quoteColumns,
  quoteTarget,
  renderFor,
  withinBounds,
  withinLiterals,
} from '../target.js';

/*
 * Deletes the partition's rows and inserts the build's, through the table itself. The default, because it is right for
 * every reader: an older snapshot keeps the old rows, no reader waits, and it needs rights on the table only. Swapping
 * tables is three to five times cheaper and was measured to show 73 % of the reads of older snapshots an empty day.
 *
 * Deleting, too, is done as SQL of the definition would be: triggers find their names by that path.
 */

export function deleteText(target: Target): string {
  return `delete from ${quoteTarget(target)} where ${withinLiterals(target)}`;
}

/**
 * The statement that inserts what the build gives, columns by name. A row outside the partition, or with a null key, ends
 * the statement with SQLSTATE BF001. The build's own WHERE is not trusted, nor is the partition's constraint: inserted
 * through the table, a stray row would find its way into another partition.
 * @param into quoted name of the table, or of a new partition that is not attached yet
 */
export function insertStatement({ ledger }: Tx, target: Target, build: SqlTemplate, into: string): SqlText {
  const query = renderFor(target, build);
  const within = withinBounds(target, query.values.length + 1, builtKey(target));
  return {
    text: `${insertInto(target, into)}
     select ${quoteColumns(target.columns, 'b.')} from (select * from (${query.text}\n) as built offset 0) as b
      where case when ${within.text} then true
                 else ${ledger}.reject_stray_row(b.${quoteIdentifier(target.column)}::pg_catalog.text) end`,
    values: [...query.values, ...within.values],
  };
}

/** @returns the number of rows */
export async function insertBuild(tx: Tx, target: Target, build: SqlTemplate, into: string): Promise<number> {
  const { text, values } = insertStatement(tx, target, build, into);
  const { rowCount } = await tx.query(text, values).catch((error: unknown) => {
    throw isStrayRow(error) ? new StrayRow(target, build, { cause: error }) : error;
  });
  return rowCount ?? 0;
}

/** Inserts rows that are staged, each of which was seen to belong to the partition. */
export async function insertStaged(tx: Tx, target: Target, into: string): Promise<void> {
  await tx.query(`${insertInto(target, into)} select ${quoteColumns(target.columns)} from ${STAGED}`);
}
