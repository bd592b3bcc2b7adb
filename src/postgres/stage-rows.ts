import type { Definition } from '../domain/definition.js';
import { quoteIdentifier } from '../domain/table-name.js';
import type { Tx } from './database.js';
import { strayRows } from './stray-rows.js';
import { type Target, builtKey, quoteColumns, quoteTarget, renderFor, withinLiterals } from './target.js';
import type { UniqueKey } from './unique-key.js';

/** The temporary table of a replacement's transaction, in which new rows wait that are not written at once. */
export const STAGED = 'pg_temp.backfill_rows';

/**
 * Puts what the build gives into {@link STAGED}, with the types of the table's columns, and demands that each row belongs
 * to the partition. From here to the end of the transaction SQL of the definition finds its names.
 * @param key a second row of one key is an error of PostgreSQL (23505), as it is in the table
 * @returns the number of rows
 * @throws {BackfillError} StrayRows
 */
export async function stageRows(tx: Tx, target: Target, definition: Definition, key?: UniqueKey): Promise<number> {
  const columns = quoteColumns(target.columns);
  await tx.goOnAsUser(
    `create temporary table backfill_rows on commit drop as select ${columns} from ${quoteTarget(target)} with no data`,
  );
  const query = renderFor(target, definition.build);
  const { rowCount } = await tx.query(
    `insert into ${STAGED} (${columns}) select ${quoteColumns(target.columns, 'b.')} from (${query.text}\n) as b`,
    query.values,
  );
  const astray = `from ${STAGED} as b where (${withinLiterals(target, builtKey(target))}) is not true`;
  const [first] = await tx.goOnAsUser(
    `select ${astray} limit 1`,
    ...(key ? [`create unique index ${quoteIdentifier(key.name)} on ${STAGED} (${quoteColumns(key.columns)})`] : []),
    `analyze ${STAGED}`,
  );
  if (first) throw await countStrayRows(tx, target, astray);
  return rowCount ?? 0;
}

async function countStrayRows(tx: Tx, target: Target, astray: string) {
  const { rows } = await tx.query<{ outside: string; example: string | null }>(
    `select pg_catalog.count(*) as outside, pg_catalog.min(b.${quoteIdentifier(target.column)}::pg_catalog.text) as example ${astray}`,
  );
  return strayRows(target, rows[0]);
}
