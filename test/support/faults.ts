import { defineTable, sql } from '../../src/config/define.js';
import type { TestDatabase } from './database.js';
import { FACT, factTable } from './fact.js';
import type { TableInput } from './harness.js';

/**
 * F1 with a build that fails as a test wants it: on a day's first `times` attempts it executes a statement. Attempts are
 * counted in sequences, which no rollback takes back.
 */
export const FAULTY_FACT = `${FACT}
create table fault (day date primary key, times int not null, statement text not null);
create function meet_fault(wanted date) returns boolean language plpgsql as $$
declare met fault;
begin
  select * into met from fault where day = wanted;
  if not found then return true; end if;
  if nextval(format('attempt_%s', to_char(wanted, 'YYYYMMDD'))) <= met.times then execute met.statement; end if;
  return true;
end $$;`;

export function faultyTable(changes: Partial<TableInput> = {}): TableInput {
  return defineTable({
    ...factTable(),
    build: ({ startDate, endDate }) =>
      sql`select day, id, amount from meet_fault(${startDate}) as met (ok), src where ok and day >= ${startDate} and day < ${endDate}`,
    ...changes,
  });
}

export interface Fault {
  readonly day: string;
  readonly times: number;
  readonly statement: string;
}

export async function setFaults(db: TestDatabase, faults: readonly Fault[]): Promise<void> {
  await db.query('truncate fault');
  for (const { day, times, statement } of faults) {
    await db.query('insert into fault values ($1, $2, $3)', [day, times, statement]);
    await db.query(`drop sequence if exists ${counterOf(day)}; create sequence ${counterOf(day)}`);
  }
}

/** How often the build of a day has run. */
export async function countAttempts(db: TestDatabase, day: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select case when is_called then last_value else 0 end::int as n from ${counterOf(day)}`,
  );
  return rows[0]?.n ?? NaN;
}

/** A statement that raises an error with this SQLSTATE. */
export function raising(sqlstate: string): string {
  return `do $do$ begin raise exception using errcode = '${sqlstate}', message = 'injected'; end $do$`;
}

function counterOf(day: string): string {
  return `attempt_${day.replaceAll('-', '')}`;
}
