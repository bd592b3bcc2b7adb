import type { Definition } from '../domain/definition.js';
import type { Partition } from '../domain/range.js';
import { type ColumnType, castOf } from '../domain/sql-template.js';
import { quoteIdentifier } from '../domain/table-name.js';
import type { Tx } from './database.js';
import { lowerAndUpper } from './leaves.js';

/**
 * Why missing partitions cannot be made: their rows are in the default partition, and others refer to rows of the table.
 * To move a row is to delete it there, which PostgreSQL refuses while it is referred to, deferred or not.
 * @param defaultName as PostgreSQL prints it, quoted where needed
 */
export async function heldInDefault(
  tx: Tx,
  { name, partitioning }: Definition,
  { defaultName, columnType }: { readonly defaultName: string; readonly columnType: ColumnType },
  missing: readonly Partition[],
): Promise<string[]> {
  const bounds = missing.map((partition) => lowerAndUpper(partition, columnType));
  const [column, type] = [quoteIdentifier(partitioning.column), castOf(columnType)];
  const { rows } = await tx.query<{ key: string }>(
    `select k.key from rows from (unnest($1::text[]), unnest($2::text[]), unnest($3::text[])) with ordinality as k (key, lower, upper, n)
      where exists (select from ${defaultName} t where t.${column} >= k.lower::${type} and t.${column} < k.upper::${type})
      order by k.n limit 1`,
    [missing.map(({ key }) => key), bounds.map(({ lower }) => lower), bounds.map(({ upper }) => upper)],
  );
  return rows.map(
    ({ key }) =>
      `Rows of ${key} are in the default partition ${defaultName}, from which they cannot be moved while others refer to rows of ${name}: exclude it, or drop the foreign keys for the time of the run`,
  );
}
