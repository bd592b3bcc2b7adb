import { defineTable, sql } from '../../src/config/define.js';
import type { TestDatabase } from './database.js';
import type { TableInput } from './harness.js';

/** F1 of the product cases: ten days, old = 100 rows summing 100.00, new = 100 rows summing 200.00. */
export const FACT = `
create table fact (day date not null, id bigint not null, amount numeric(12,2) not null,
                   primary key (day, id)) partition by range (day);
create table src  (day date not null, id bigint not null, amount numeric(12,2) not null);
do $$ declare d date; begin
  for d in select generate_series(date '2024-03-01', date '2024-03-10', interval '1 day')::date loop
    execute format('create table fact_%s partition of fact for values from (%L) to (%L)', to_char(d,'YYYYMMDD'), d, d+1);
  end loop; end $$;
insert into fact select d::date, i, 1.00 from generate_series(date '2024-03-01', date '2024-03-10', interval '1 day') d, generate_series(1,100) i;
insert into src  select d::date, i, 2.00 from generate_series(date '2024-03-01', date '2024-03-10', interval '1 day') d, generate_series(1,100) i;
analyze fact;`;

/** Every way of writing the rows of F1, which has a key. */
export const strategies = ['delete-insert', 'diff'] as const;

/** Transform T1 as a definition; a test may change any of its fields. */
export function factTable(changes: Partial<TableInput> = {}): TableInput {
  return defineTable({
    name: 'fact',
    partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
    reads: ['src'],
    build: ({ startDate, endDate }) =>
      sql`select day, id, amount from src where day >= ${startDate} and day < ${endDate}`,
    ...changes,
  });
}

/** What F2 says of a day: two equal ones mean that not a row version has changed. */
export interface Fingerprint {
  readonly rows: number;
  readonly sum: string;
  readonly versions: string;
}

export const OLD = { rows: 100, sum: '100.00' };
export const NEW = { rows: 100, sum: '200.00' };

/** F2, by day. */
export async function fingerprints(db: TestDatabase, table = 'fact'): Promise<Map<string, Fingerprint>> {
  const { rows } = await db.query<{ day: string; rows: number; sum: string; versions: string }>(
    `select day, count(*)::int as rows, sum(amount)::text as sum,
            md5(string_agg(id||':'||amount||':'||xmin::text, ',' order by id)) as versions
       from ${table} group by day order by day`,
  );
  return new Map(rows.map(({ day, ...rest }) => [day, rest]));
}

/** The days of March 2024 from one to the other, both included. */
export function march(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `2024-03-${String(from + i).padStart(2, '0')}`);
}
