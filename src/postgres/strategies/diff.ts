import { quoteIdentifier } from '../../domain/table-name.js';
import type { Tx } from '../database.js';
import { STAGED } from '../staged.js';
import { type Target, quoteColumns, quoteTarget, withinLiterals } from '../target.js';
import { type UniqueKey, sameKey } from '../unique-key.js';

/*
 * Compares the partition's rows with the staged ones by a unique key of the table, and writes only what differs: rows
 * that others refer to stay the same rows, and so does each that the build gives as it is. As dear as delete-insert where
 * every row changes, four times cheaper where one in a hundred does.
 *
 * Three statements instead of a MERGE, which deletes what the source lacks from PostgreSQL 17 on only, and then joins
 * every partition of the table.
 */

/** Rows of the partition whose key the build gives. */
export function isBuilt(key: UniqueKey): string {
  return `exists (select from ${STAGED} as s where ${sameKey(key, 's', 't')})`;
}

/** Rows of the partition that the build does not give as they are. */
export function notAsBuilt({ columns }: Target, key: UniqueKey): string {
  return `not exists (select from ${STAGED} as s where ${sameKey(key, 's', 't')} and not (${differs(columns)}))`;
}

/** @returns what was written, with triggers of the table fired */
export async function writeDifferences(
  tx: Tx,
  target: Target,
  key: UniqueKey,
): Promise<{ readonly removed: number; readonly changed: number; readonly added: number }> {
  const [removed = 0, changed = 0, added = 0] = await tx.goOnAsUser(
    ...correctRows(target, key),
    insertMissing(target, key),
  );
  return { removed, changed, added };
}

/** Statements after which no row is left that is not as built: the first deletes, the second updates. */
export function correctRows(target: Target, key: UniqueKey): readonly [string, string] {
  const table = quoteTarget(target);
  const values = target.columns.map((column) => `${quoteIdentifier(column)} = s.${quoteIdentifier(column)}`);
  return [
    `delete from ${table} as t where ${within(target)} and not ${isBuilt(key)}`,
    `update ${table} as t set ${values.join(', ')} from ${STAGED} as s
      where ${within(target)} and ${sameKey(key, 's', 't')} and ${differs(target.columns)}`,
  ];
}

function insertMissing(target: Target, key: UniqueKey): string {
  const table = quoteTarget(target);
  return `insert into ${table} (${quoteColumns(target.columns)}) select ${quoteColumns(target.columns, 's.')} from ${STAGED} as s
      where not exists (select from ${table} as t where ${within(target)} and ${sameKey(key, 's', 't')})`;
}

function within(target: Target): string {
  return withinLiterals(target, `t.${quoteIdentifier(target.column)}`);
}

/** Bits are compared, not values: 1.0 and 1.00 are equal numbers, and not the same row. It also knows json. */
function differs(columns: readonly string[]): string {
  return `row(${quoteColumns(columns, 't.')})::pg_catalog.record
            operator(pg_catalog.*<>) row(${quoteColumns(columns, 's.')})::pg_catalog.record`;
}
