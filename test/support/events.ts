import { defineTable, sql } from '../../src/config/define.js';
import type { TestDatabase } from './database.js';
import type { TableInput } from './harness.js';

/** A table keyed by instant, and one source row per 30 minutes around both changes of the clock of New York. */
export const EVENTS = `
create table ev (ts timestamptz not null, n int not null) partition by range (ts);
create table src_ev as select t ts, 1 n from generate_series(timestamptz '2024-03-09 05:00Z', '2024-03-12 03:30Z', interval '30 min') t
             union all select t, 1    from generate_series(timestamptz '2024-11-02 04:00Z', '2024-11-05 04:30Z', interval '30 min') t;`;

export function eventTable(): TableInput {
  return defineTable({
    name: 'ev',
    partitionBy: { column: 'ts', grain: 'day', timeZone: 'America/New_York' },
    reads: ['src_ev'],
    build: ({ start, end }) => sql`select ts, n from src_ev where ts >= ${start} and ts < ${end}`,
  });
}

export interface EventPartition {
  readonly start: string;
  readonly end: string;
  readonly rows: number;
}

/** The partitions as the catalog has them, in UTC whatever the session's zone is, and the rows that lie in each. */
export async function eventPartitions(db: TestDatabase): Promise<EventPartition[]> {
  const utc = (bound: string) =>
    `to_char(btrim(m[${bound}], '''')::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"')`;
  const { rows } = await db.query<EventPartition>(
    `select ${utc('1')} as start, ${utc('2')} as end,
            (select count(*)::int from ev where ev.tableoid = c.oid) as rows
       from pg_inherits join pg_class c on c.oid = inhrelid
      cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\((.+)\\) TO \\((.+)\\)') m
      where inhparent = 'ev'::regclass order by 1`,
  );
  return rows;
}

/** Rows that the table has and its source has not, and the other way round: none when each is there once. */
export async function countDifferences(db: TestDatabase): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select count(*)::int as n from ((table ev except all table src_ev) union all (table src_ev except all table ev)) d`,
  );
  return rows[0]?.n ?? NaN;
}

export async function dropEventPartitions(db: TestDatabase): Promise<void> {
  await db.query(`do $$ declare name regclass; begin
    for name in select inhrelid::regclass from pg_inherits where inhparent = 'ev'::regclass loop
      execute format('drop table %s', name);
    end loop; end $$`);
}
