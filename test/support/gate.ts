import { sql } from '../../src/config/define.js';
import type { TestDatabase } from './database.js';
import { FACT, factTable } from './fact.js';
import type { TableInput } from './harness.js';

/**
 * Gates at which a build waits in the middle of its rows until the test opens them, and counters of builds. A volatile
 * function sees what was committed since its statement began; a sequence keeps what a rollback takes back.
 */
const GATES = `
create table gate (key text primary key);
create function pass_gate(wanted text) returns boolean language plpgsql as $$
begin
  while exists (select from gate where key = wanted) loop perform pg_sleep(0.02); end loop;
  return true;
end $$;
create function count_build(key text) returns bigint language sql as $$ select nextval(format('%I', 'builds of ' || key)) $$;
do $$ declare d date; begin
  for d in select generate_series(date '2024-03-01', date '2024-03-10', interval '1 day')::date loop
    execute format('create sequence %I', 'builds of ' || d);
  end loop; end $$;`;

/** F1 with gates. */
export const GATED_FACT = FACT + GATES;

/** F1 whose builds are counted and wait, with 49 rows written, at the gate of their key. */
export function gatedFact(changes: Partial<TableInput> = {}): TableInput {
  return factTable({
    build: ({ startDate, endDate, key }) => sql`
      with counted as materialized (select count_build(${key}))
      select day, id, amount from counted, src
       where day >= ${startDate} and day < ${endDate} and (id <> 50 or pass_gate(${key}))`,
    ...changes,
  });
}

/** Puts F1 back as it was, with all gates open and all counters at null. The ledger keeps what it has. */
export async function resetFact(db: TestDatabase): Promise<void> {
  await db.query('drop table if exists fact, src cascade');
  await db.query(FACT);
  await db.query('delete from gate');
  await db.query(
    `select setval(format('%I', sequencename), 1, false) from pg_sequences where sequencename like 'builds of %'`,
  );
}

export async function closeGate(db: TestDatabase, ...keys: readonly string[]): Promise<void> {
  await db.query('insert into gate select unnest($1::text[])', [keys]);
}

export async function openGate(db: TestDatabase, ...keys: readonly string[]): Promise<void> {
  await db.query('delete from gate where key = any ($1)', [keys]);
}

/** How often each day's build began, by day, rolled back ones included. */
export async function buildCounts(db: TestDatabase): Promise<Record<string, number>> {
  const { rows } = await db.query<{ key: string; builds: number }>(
    `select substr(sequencename, 11) as key, coalesce(last_value, 0)::int as builds
       from pg_sequences where sequencename like 'builds of %' order by key`,
  );
  return Object.fromEntries(rows.map(({ key, builds }) => [key, builds]));
}
