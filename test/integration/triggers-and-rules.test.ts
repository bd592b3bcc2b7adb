import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { FACT, NEW, OLD, factTable, fingerprints } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { lastAttempt } from '../support/history.js';

const one = { table: 'fact', from: '2024-03-04', to: '2024-03-04' };

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness('', { tables: [factTable()] });
});
beforeEach(() => harness.db.query(`drop table if exists fact, src, seen cascade; ${FACT}`));
afterAll(() => harness.close());

test.each([
  ['delete', 'do instead nothing', 'fact'],
  ['insert', 'do also delete from src', 'fact'],
  ['insert', 'do instead nothing', 'fact_20240304'],
])('a rule on %s %s of %s is refused in the plan', async (event, action, table) => {
  const { db, client } = harness;
  await db.query(`create rule meddling as on ${event} to ${table} ${action}`);
  const plan = await client.plan(one);
  expect(plan.refusals).toEqual([
    expect.stringMatching(new RegExp(`^Rule meddling of public.${table} .*alter table public.${table} disable rule`)),
  ]);
  await expect((await client.start(one)).result()).rejects.toMatchObject({ type: 'InvalidRequest' });
  expect((await fingerprints(db)).get('2024-03-04')).toMatchObject(OLD);

  await db.query(`alter table ${table} disable rule meddling`);
  await (await client.start(one)).result();
  expect((await fingerprints(db)).get('2024-03-04')).toMatchObject(NEW);
});

test('a trigger that keeps rows from being deleted fails the day at once, and the old rows stay', async () => {
  const { db, client, temporal } = harness;
  await db.query(`
    alter table fact drop constraint fact_pkey;
    create or replace function keep() returns trigger language plpgsql as 'begin return null; end';
    create trigger keeping before delete on fact for each row when (old.id = 7) execute function keep()`);
  const plan = await client.plan(one);
  expect(plan.warnings).toEqual(['Triggers fire for every row that is deleted or inserted: keeping']);
  const before = await fingerprints(db);
  const run = await client.start(one);
  await expect(run.result()).rejects.toMatchObject({
    key: '2024-03-04',
    failure: expect.objectContaining({
      type: 'RowsStay',
      message:
        '2024-03-04: the build gave 100 rows and 101 are there; a trigger of the table keeps rows from being deleted',
    }),
  });
  expect(await lastAttempt(temporal, run.workflowId, '2024-03-04')).toMatchObject({ attempt: 1 });
  expect(await fingerprints(db)).toEqual(before);
});

/** Whoever writes in a block with an exception handler writes in a subtransaction, which has a number of its own. */
test('rows that a trigger writes in a subtransaction are the run’s own', async () => {
  const { db, client } = harness;
  await db.query(`
    create or replace function raise_amount() returns trigger language plpgsql as $$ begin
      begin update fact set amount = amount where day = new.day and id = new.id; exception when others then null; end;
      return null; end $$;
    create trigger raising after insert on fact for each row execute function raise_amount()`);
  expect(await (await client.start(one)).result()).toMatchObject({ partitions: 1, rowsAfter: 100 });
  const { rows } = await db.query('select xid is null as unknown, row_count::int from backfill.partition');
  expect(rows).toEqual([{ unknown: true, row_count: 100 }]);
});

/** Their functions find names as the build does. */
test.each(['replaced', 'created'])('row triggers fire for every row of a day that is %s', async (how) => {
  const { db, client } = harness;
  await db.query(`
    create table seen (day date, id bigint);
    create or replace function see() returns trigger language plpgsql as $$ begin
      insert into seen select (r).day, (r).id from (select coalesce(new, old) as r) row;
      return coalesce(new, old); end $$;
    create trigger seeing before insert or delete on fact for each row execute function see()`);
  if (how === 'created') await db.query('drop table fact_20240304');
  await (await client.start(one)).result();
  const { rows } = await db.query('select count(*)::int as n, count(distinct id)::int as ids from seen');
  expect(rows).toEqual([{ n: how === 'created' ? 100 : 200, ids: 100 }]);
});

test.each(['replaced', 'created'])('a statement trigger fires once for the rows of a day that is %s', async (how) => {
  const { db, client } = harness;
  await db.query(`
    create table seen (rows bigint);
    create or replace function see_all() returns trigger language plpgsql as 'begin insert into seen select count(*) from added; return null; end';
    create trigger seeing_all after insert on fact referencing new table as added for each statement execute function see_all()`);
  if (how === 'created') await db.query('drop table fact_20240304');
  await (await client.start(one)).result();
  expect((await db.query('select rows::int from seen')).rows).toEqual([{ rows: 100 }]);
});

test.each(['replaced', 'created'])(
  'an identity column that the build leaves out numbers the rows of a day that is %s',
  async (how) => {
    const { db, client } = harness;
    await db.query(`
    drop table fact cascade;
    create table fact (day date not null, no bigint generated always as identity, id bigint, amount numeric(12,2)) partition by range (day);
    create table fact_20240304 partition of fact for values from ('2024-03-04') to ('2024-03-05')`);
    if (how === 'created') await db.query('drop table fact_20240304');
    expect(await (await client.start(one)).result()).toMatchObject({ partitions: 1, rowsAfter: 100 });
    const { rows } = await db.query('select count(distinct no)::int as n, min(no)::int, max(no)::int from fact');
    expect(rows).toEqual([{ n: 100, min: 1, max: 100 }]);
  },
);

test('triggers, deferred ones too, find their names as the role does', async () => {
  const { db, client } = harness;
  await db.query(`
    create table seen (day date, id bigint);
    create or replace function see_old() returns trigger language plpgsql as 'begin insert into seen values (old.day, old.id); return old; end';
    create or replace function see_late() returns trigger language plpgsql as 'begin insert into seen values (new.day, -new.id); return null; end';
    create trigger seeing_old before delete on fact for each row execute function see_old();
    create constraint trigger seeing_late after insert on fact deferrable initially deferred for each row execute function see_late()`);
  await (await client.start(one)).result();
  const { rows } = await db.query('select count(*)::int as n, min(id)::int, max(id)::int from seen');
  expect(rows).toEqual([{ n: 200, min: -100, max: 100 }]);
});

test('a partition that is a foreign table is refused in the plan', async () => {
  const { db, client } = harness;
  // A primary key would forbid such a partition.
  await db.query(`
    alter table fact drop constraint fact_pkey; drop table fact_20240304;
    create foreign data wrapper nothing; create server nowhere foreign data wrapper nothing;
    create foreign table fact_far partition of fact for values from ('2024-03-04') to ('2024-03-05') server nowhere`);
  expect((await client.plan(one)).refusals).toEqual([
    expect.stringContaining('no handler'),
    expect.stringMatching(/^public.fact_far, a partition of public.fact, is a foreign table/),
  ]);
});

test('a build with side effects that a second look refuses still says that rows are astray', async () => {
  await harness.db.query('create sequence if not exists numbers');
  const build = factTable({
    build: ({ startDate }) => sql`select ${startDate} + 1 as day, nextval('numbers') as id, 1 as amount`,
  });
  await harness.restartWorker({ tables: [build] });
  await expect((await harness.client.start(one)).result()).rejects.toMatchObject({
    failure: expect.objectContaining({ type: 'StrayRows', message: expect.stringContaining('2024-03-05') }),
  });
});
