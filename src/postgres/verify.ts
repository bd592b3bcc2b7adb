import type { Definition } from '../domain/definition.js';
import type { Difference } from '../domain/outcome.js';
import type { Partition } from '../domain/range.js';
import type { ColumnType } from '../domain/sql-template.js';
import { quoteIdentifier, quoteTableName } from '../domain/table-name.js';
import type { Tx } from './database.js';
import { lowerAndUpper } from './leaves.js';

/**
 * The last read: partitions whose rows in the table are not as many as their current ledger row says, oldest first. It
 * asks the current row, not this run's: a daily run may have written the partition since, and recorded that.
 */
export async function findDifferences(
  tx: Tx,
  definition: Definition,
  columnType: ColumnType,
  partitions: readonly Partition[],
): Promise<Difference[]> {
  const bounds = partitions.map((partition) => lowerAndUpper(partition, columnType));
  const column = `t.${quoteIdentifier(definition.partitioning.column)}`;
  const type = columnType === 'date' ? 'date' : 'timestamptz';
  const { rows } = await tx.query<{ key: string; recorded: string; found: string }>(
    `select k.key, p.row_count as recorded, c.found
       from rows from (pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[])) with ordinality as k (key, lower, upper, n)
       join backfill.partition p on p.table_name = $1 and p.key = k.key
      cross join lateral (select pg_catalog.count(*) as found from ${quoteTableName(definition.table)} t
              where ${column} >= k.lower::${type} and ${column} < k.upper::${type}) c
      where c.found <> p.row_count
      order by k.n`,
    [
      definition.name,
      partitions.map(({ key }) => key),
      bounds.map(({ lower }) => lower),
      bounds.map(({ upper }) => upper),
    ],
  );
  return rows.map(({ key, recorded, found }) => ({ key, rowsRecorded: Number(recorded), rowsFound: Number(found) }));
}
