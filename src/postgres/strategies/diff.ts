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

/** Rows of the partition that the build does not give. */
export function notBuilt(key: UniqueKey): string {
  return `not exists (select from ${STAGED} as s where ${sameKey(key, 's', 't')})`;
}

/** @returns what was written, with triggers of the table fired */
export async function writeDifferences(
  tx: Tx,
  target: Target,
  key: UniqueKey,
): Promise<{ readonly removed: number; readonly changed: number; readonly added: number }> {
  const table = quoteTarget(target);
  const within = withinLiterals(target, `t.${quoteIdentifier(target.column)}`);
  const same = sameKey(key, 's', 't');
  const values = target.columns.map((column) => `${quoteIdentifier(column)} = s.${quoteIdentifier(column)}`);
  const [removed = 0, changed = 0, added = 0] = await tx.goOnAsUser(
    deleteNotBuilt(target, key),
    // Bits are compared, not values: 1.0 and 1.00 are equal numbers, and not the same row. It also knows json.
    `update ${table} as t set ${values.join(', ')} from ${STAGED} as s
      where ${within} and ${same}
        and row(${quoteColumns(target.columns, 't.')})::pg_catalog.record
            operator(pg_catalog.*<>) row(${quoteColumns(target.columns, 's.')})::pg_catalog.record`,
    `insert into ${table} (${quoteColumns(target.columns)}) select ${quoteColumns(target.columns, 's.')} from ${STAGED} as s
      where not exists (select from ${table} as t where ${within} and ${same})`,
  );
  return { removed, changed, added };
}

export function deleteNotBuilt(target: Target, key: UniqueKey): string {
  const within = withinLiterals(target, `t.${quoteIdentifier(target.column)}`);
  return `delete from ${quoteTarget(target)} as t where ${within} and ${notBuilt(key)}`;
}
