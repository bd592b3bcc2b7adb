import type { Tx } from '../database.js';

/** Partitions of a table that were written last: how many, at most a hundred, and how long one took, as a median. */
export interface EarlierWrites {
  readonly count: number;
  readonly medianMs: number;
}

const LATELY = 100;

/** Null where none was written yet. */
export async function readEarlierWrites(tx: Tx, table: string): Promise<EarlierWrites | null> {
  const { rows } = await tx.query<{ count: number; median: number | null }>(
    `select count(*)::int as count, percentile_disc(0.5) within group (order by ms) as median
       from (select (extract(epoch from committed_at - started_at) * 1000)::float8 as ms from ${tx.ledger}.replacement
              where table_name = $1 order by committed_at desc limit $2) lately`,
    [table, LATELY],
  );
  const { count = 0, median = null } = rows[0] ?? {};
  return median === null ? null : { count, medianMs: Math.round(median) };
}
