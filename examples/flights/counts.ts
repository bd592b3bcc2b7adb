import type { Facts } from './facts.js';

/** Runs one statement. Days are asked for as text, so no driver setting can move one. */
export type Query = (text: string, values: unknown[]) => Promise<{ readonly rows: readonly Row[] }>;

interface Row {
  /** A day (`2013-01-01`), or a partition. */
  readonly name: string;
  readonly flights: number;
}

/** What the database holds of a table that was backfilled: numbers of flights. */
export interface Counts {
  readonly byPartition: ReadonlyMap<string, number>;
  readonly byDay: ReadonlyMap<string, number>;
  /** Straight from the source, by the days as PostgreSQL finds them: those of the build come from the software. */
  readonly bySourceDay: ReadonlyMap<string, number>;
}

export async function readCounts(query: Query, { table, timeZone }: Facts): Promise<Counts> {
  const count = async (text: string, ...values: string[]) => {
    const { rows } = await query(text, values);
    return new Map(rows.map(({ name, flights }) => [name, flights]));
  };
  return {
    byPartition: await count(
      `select inhrelid::regclass::text as name, coalesce(sum(flights), 0)::int as flights
       from pg_inherits left join ${table} t on t.tableoid = inhrelid
       where inhparent = $1::regclass
       group by inhrelid`,
      table,
    ),
    byDay: await count(
      `select to_char(day, 'YYYY-MM-DD') as name, sum(flights)::int as flights from ${table} group by day`,
    ),
    bySourceDay: await count(
      `select to_char(time_hour at time zone $1, 'YYYY-MM-DD') as name, count(*)::int as flights
       from raw.flights
       group by 1`,
      timeZone,
    ),
  };
}
