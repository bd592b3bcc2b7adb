import pg from 'pg';
import type { Definition } from '../domain/definition.js';
import type { Difference } from '../domain/outcome.js';
import type { Partition } from '../domain/range.js';
import { type ColumnType, castOf } from '../domain/sql-template.js';
import { quoteIdentifier, quoteTableName } from '../domain/table-name.js';
import type { Tx } from './database.js';
import { lowerAndUpper } from './leaves.js';

/**
 * The last read: partitions of a plan that the ledger does not know as written under it, or whose rows in the table are
 * not those that their current ledger row says, oldest first: not as many, or not all written by the recorded
 * transaction, which each row carries as its xmin (where rows were kept: some written after it). It asks the current row, not this run's: a daily run may have written
 * the partition since, and recorded that. Temporal's word that a partition is done is not enough: a server that lost a
 * commit in a crash, or an activity completed by hand, leaves the old rows there.
 */
export async function findDifferences(
  tx: Tx,
  { definition, planId }: { readonly definition: Definition; readonly planId: string },
  columnType: ColumnType,
  partitions: readonly Partition[],
): Promise<Difference[]> {
  if (partitions.length === 0) return [];
  // By an index in its order every row costs a way into the heap: twice as slow as page after page.
  await tx.query('set local enable_indexscan = off');
  const found = partitions.map((partition, n) => foundText(definition, columnType, partition, n));
  const { rows } = await tx.query<{ key: string; recorded: string | null; found: string; others: string }>(
    `select k.key, case when r.key is not null then p.row_count end as recorded, c.found, c.others
       from pg_catalog.unnest($2::text[]) with ordinality as k (key, n)
       left join ${tx.ledger}.partition p on p.table_name = $1 and p.key = k.key
       left join ${tx.ledger}.replacement r on r.plan_id = $3 and r.key = k.key
      cross join lateral (${found.join(' union all ')}) c
      where r.key is null or c.found is distinct from p.row_count or c.others > 0
      order by k.n`,
    [definition.name, partitions.map(({ key }) => key), planId],
  );
  return rows.map(({ key, recorded, found: rowsFound, others }) => ({
    key,
    rowsRecorded: Number(recorded),
    rowsFound: Number(rowsFound),
    rowsOfOthers: Number(others),
  }));
}

/**
 * The rows of one partition, with its bounds in the text: given as values of a join they are known too late, and every
 * partition of the table is locked, of which a server has room for 6,400 (measured: out of shared memory at 8,784).
 */
function foundText(
  { table, partitioning }: Definition,
  columnType: ColumnType,
  partition: Partition,
  n: number,
): string {
  const column = `t.${quoteIdentifier(partitioning.column)}`;
  const type = castOf(columnType);
  const { lower, upper } = lowerAndUpper(partition, columnType);
  return `select pg_catalog.count(*) as found, pg_catalog.count(*) filter (where case when p.keeps_rows then ${isLater('t.xmin', 'p.xid')}
                                                                  else t.xmin <> p.xid::pg_catalog.xid end) as others
       from ${quoteTableName(table)} t
      where ${column} >= ${pg.escapeLiteral(lower)}::${type} and ${column} < ${pg.escapeLiteral(upper)}::${type} and k.n = ${n + 1}
     having k.n = ${n + 1}`;
}

/**
 * Whether a row's half of a transaction number came after a whole one, up to now. Not `age()`: rows that nobody touched for
 * two thousand million transactions keep their old half, which `age` takes for one to come.
 */
function isLater(half: string, xid: string): string {
  const later = `((${half}::text::bigint - ${xid}::text::bigint % 4294967296 + 4294967296) % 4294967296)`;
  return `${later} between 1 and pg_snapshot_xmax(pg_current_snapshot())::text::bigint - ${xid}::text::bigint`;
}
