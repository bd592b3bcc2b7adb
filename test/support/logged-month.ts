import { defineTable, sql } from '../../src/config/define.js';
import type { TestDatabase } from './database.js';
import type { TableInput } from './harness.js';

/**
 * A table of thirty days whose builds log when they begin and end: in sequences, so that an attempt that is rolled back
 * leaves its word too. A build waits at the gate of its day, and day 20 fails twice with an error worth another try.
 */
export const LOGGED_MONTH = `
create table month (day date not null, id int not null, primary key (day, id)) partition by range (day);
do $$ declare d date; begin
  for d in select generate_series(date '2024-03-01', date '2024-03-30', interval '1 day')::date loop
    execute format('create table month_%s partition of month for values from (%L) to (%L)', to_char(d, 'MMDD'), d, d + 1);
    execute format('create sequence %I', 'tries of ' || d);
  end loop; end $$;
create table gate (key text primary key);
create sequence attempts;
do $$ begin
  for n in 1..100 loop
    execute format('create sequence %I; create sequence %I; create sequence %I', 'day ' || n, 'start ' || n, 'end ' || n);
  end loop; end $$;
create function note(what text) returns void language sql as
  $$ select setval(format('%I', what), (extract(epoch from clock_timestamp()) * 1e6)::bigint) $$;
create function logged(wanted date) returns boolean language plpgsql as $$
declare n bigint := nextval('attempts'); try bigint := nextval(format('%I', 'tries of ' || wanted));
begin
  perform setval(format('%I', 'day ' || n), extract(day from wanted)::bigint);
  perform note('start ' || n);
  perform pg_sleep(0.05);
  while exists (select from gate where key = wanted::text) loop perform pg_sleep(0.02); end loop;
  perform note('end ' || n);
  if wanted = '2024-03-20' and try <= 2 then raise serialization_failure; end if;
  return true;
end $$;`;

export function loggedMonth(): TableInput {
  return defineTable({
    name: 'month',
    partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
    build: ({ startDate }) =>
      sql`select ${startDate} as day, id from logged(${startDate}) as l (ok), generate_series(1, 5) id where ok`,
  });
}

/** One attempt at one day. `end` is null where its session was struck. Microseconds. */
export interface Attempt {
  readonly day: number;
  readonly start: number;
  readonly end: number | null;
}

/** Every attempt, in the order in which they began. */
export async function readAttempts(db: TestDatabase): Promise<Attempt[]> {
  const { rows } = await db.query<{ n: number; what: 'day' | 'start' | 'end'; value: string | null }>(
    `select split_part(sequencename, ' ', 2)::int as n, split_part(sequencename, ' ', 1) as what, last_value as value
       from pg_sequences where sequencename ~ '^(day|start|end) ' order by 1`,
  );
  const byNumber = new Map<number, Record<string, number | null>>();
  for (const { n, what, value } of rows) {
    byNumber.set(n, { ...byNumber.get(n), [what]: value === null ? null : Number(value) });
  }
  return [...byNumber.values()].flatMap(({ day, start, end }) =>
    day && start ? [{ day, start, end: end ?? null }] : [],
  );
}

/** How many were at work at once, at most. One that was struck was at work until the next attempt at its day, at most. */
export function mostAtOnce(attempts: readonly Attempt[]): number {
  const spans = attempts.map(({ day, start, end }) => ({
    start,
    end: end ?? attempts.find((other) => other.day === day && other.start > start)?.start ?? Infinity,
  }));
  return Math.max(...spans.map(({ start }) => spans.filter((one) => one.start <= start && start < one.end).length));
}
