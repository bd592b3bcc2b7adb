import { quoteIdentifier } from '../domain/table-name.js';
import type { Tx } from './database.js';
import type { RowSource } from './row-sources/bringing.js';
import { STAGED } from './staged.js';
import { strayRows } from './stray-rows.js';
import { type Target, builtKey, quoteColumns, quoteTarget, withinLiterals } from './target.js';
import type { UniqueKey } from './unique-key.js';

/**
 * Puts the new rows into {@link STAGED}, with the types of the table's columns, and demands that each belongs to the
 * partition. From here to the end of the transaction SQL of the definition finds its names.
 * @param key a second row of one key is an error of PostgreSQL (23505), as it is in the table
 * @returns the number of rows
 * @throws {BackfillError} StrayRows, CodeFailed, and what the source of the rows says
 */
export async function stageRows(tx: Tx, target: Target, fill: RowSource, key?: UniqueKey): Promise<number> {
  await tx.goOnAsUser(
    `create temporary table backfill_rows on commit drop as select ${quoteColumns(target.columns)} from ${quoteTarget(target)} with no data`,
  );
  const rows = await fill(tx, target);
  const astray = `from ${STAGED} as b where (${withinLiterals(target, builtKey(target))}) is not true`;
  const [first] = await tx.goOnAsUser(
    `select ${astray} limit 1`,
    ...(key ? [`create unique index ${quoteIdentifier(key.name)} on ${STAGED} (${quoteColumns(key.columns)})`] : []),
    `analyze ${STAGED}`,
  );
  if (first) throw await countStrayRows(tx, target, astray);
  return rows;
}

async function countStrayRows(tx: Tx, target: Target, astray: string) {
  const { rows } = await tx.query<{ outside: string; example: string | null }>(
    `select pg_catalog.count(*) as outside, pg_catalog.min(b.${quoteIdentifier(target.column)}::pg_catalog.text) as example ${astray}`,
  );
  return strayRows(target, rows[0]);
}
