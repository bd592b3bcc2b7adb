import { raw } from 'sql-template-tag';
import { defineTable, sql } from '../../src/config/define.js';
import type { Partitioning } from '../../src/domain/grain.js';
import type { TestDatabase } from './database.js';
import type { TableInput } from './harness.js';

/** The type of the column `at`, and how a value of it is made of an instant. */
export const columns = {
  date: { type: 'date', value: (zone: string) => `(t at time zone '${zone}')::date`, as: undefined },
  timestamp: { type: 'timestamp', value: (zone: string) => `t at time zone '${zone}'`, as: undefined },
  timestamptz: { type: 'timestamptz', value: () => 't', as: undefined },
  yyyymmdd: {
    type: 'integer',
    value: (zone: string) => `to_char(t at time zone '${zone}', 'YYYYMMDD')::integer`,
    as: 'yyyymmdd',
  },
  seconds: { type: 'bigint', value: () => 'extract(epoch from t)::bigint', as: 'epoch-seconds' },
  milliseconds: { type: 'bigint', value: () => '(extract(epoch from t) * 1000)::bigint', as: 'epoch-milliseconds' },
} as const;
export type ColumnName = keyof typeof columns;

/** A source with one row each half an hour, whose value is new, and a table with the same rows, whose values are old. */
export interface CalendarTable {
  readonly name: string;
  readonly column: ColumnName;
  readonly timeZone: string;
  /** Instants, half-open. */
  readonly from: string;
  readonly until: string;
}

/** @param partitions SQL that makes partitions, after the table and before its rows */
export function createCalendar(
  { name, column, timeZone, from, until }: CalendarTable,
  by = '',
  partitions = '',
): string {
  const { type, value } = columns[column];
  const rows = (old: string) =>
    `select ${value(timeZone)} as at, extract(epoch from t)::bigint as id, '${old}' as value
       from generate_series(timestamptz '${from}', timestamptz '${until}' - interval '1 s', interval '30 min') t`;
  return `create table ${name} (at ${type} not null, id bigint not null, value text not null) ${by};
    create table ${name}_src as ${rows('new')};
    ${partitions};
    create index on ${name} (at);
    insert into ${name} ${rows('old')};`;
}

export function calendarTable(
  { name, column, timeZone }: CalendarTable,
  partitionBy: Pick<Partitioning, 'grain' | 'every' | 'anchor'>,
): TableInput {
  const { as } = columns[column];
  return defineTable({
    name,
    partitionBy: { column: 'at', timeZone, ...partitionBy, ...(as && { as }) },
    reads: [`${name}_src`],
    build: ({ startValue, endValue }) =>
      sql`select at, id, value from ${raw(`${name}_src`)} where at >= ${startValue} and at < ${endValue}`,
  });
}

/** Rows that are not as they were before, as half-open instants of the first and the last, and how many they are. */
export async function changed(db: TestDatabase, name: string, before: ReadonlyMap<string, string>) {
  const now = await versions(db, name);
  const ids = [...now].filter(([id, version]) => before.get(id) !== version).map(([id]) => Number(id));
  const gone = [...before.keys()].filter((id) => !now.has(id));
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');
  const { rows } = await db.query<{ n: number }>(`select count(*)::int as n from ${name} where value = 'new'`);
  return {
    from: iso(Math.min(...ids)),
    until: iso(Math.max(...ids) + 1800),
    rows: ids.length,
    new: rows[0]?.n,
    gone,
  };
}

/** Each row's version, by its id. */
export async function versions(db: TestDatabase, name: string): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; version: string }>(
    `select id::text as id, xmin::text || ':' || value as version from ${name} order by id`,
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}
