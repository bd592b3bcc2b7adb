import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { FACT, NEW, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

/**
 * A build that leaves in its session whatever a session can hold, and notes what it finds there. New sessions of the
 * database answer a commit before it is on the disk.
 */
const LITTER = `
do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$;
create table found (day date, what text);
create table used (pid int);
create function litter(wanted date) returns boolean language plpgsql as $$
begin
  insert into used values (pg_backend_pid());
  insert into found select wanted, 'setting' where coalesce(current_setting('app.litter', true), '') <> '';
  insert into found select wanted, 'search path' where current_setting('search_path') like '%nowhere%';
  insert into found select wanted, 'commit' where current_setting('synchronous_commit') <> 'on';
  insert into found select wanted, 'temporary table' where to_regclass('pg_temp.litter') is not null;
  insert into found select wanted, 'lock' from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and objid = 42;
  insert into found select wanted, 'channel' from pg_listening_channels();
  insert into found select wanted, 'statement' from pg_prepared_statements where name = 'litter';
  perform set_config('app.litter', 'x', false);
  create temporary table litter (n int);
  perform pg_advisory_lock(42);
  listen litter;
  execute 'prepare litter as select 1';
  perform set_config('synchronous_commit', 'off', false);
  perform set_config('search_path', 'nowhere, public', false);
  return true;
end $$;`;

const litter = factTable({
  build: ({ startDate, endDate }) => sql`
    select day, id, amount from src, litter(${startDate}) as l (ok) where ok and day >= ${startDate} and day < ${endDate}`,
});

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(FACT + LITTER, { tables: [litter], slots: 1 });
});
afterAll(() => harness.close());

test('what a build leaves in its session reaches no other partition, and no statement of the run itself', async () => {
  const { client, db } = harness;
  const run = await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-10' });
  expect(await run.result()).toMatchObject({ partitions: 10, rowsAfter: 1000 });
  expect((await db.query('select day, what from found')).rows).toEqual([]);
  // Not by a new session for each.
  expect((await db.query('select distinct pid from used')).rowCount).toBe(1);
  const after = await fingerprints(db);
  for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);
});
