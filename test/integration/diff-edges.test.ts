import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { type Direct, openDirect } from '../support/direct.js';
import { factTable, fingerprints } from '../support/fact.js';
import { GATED_FACT, closeGate, openGate, resetFact } from '../support/gate.js';
import type { TableInput } from '../support/harness.js';
import { untilAtGate } from '../support/sessions.js';

const DAY = '2024-03-04';
const day = { from: DAY, to: DAY };
const diffed = (changes: Partial<TableInput> = {}) => factTable({ strategy: 'diff', ...changes });

let db: TestDatabase;
let direct: Direct;
beforeAll(async () => {
  db = await createDatabase();
  await db.query(GATED_FACT);
  direct = openDirect(db);
});
beforeEach(() => resetFact(db));
afterAll(async () => {
  await direct.end();
  await db.drop();
});

/** Rows that are right already are not locked. */
test('a row that another session deletes meanwhile is there in the end, though it was right before', async () => {
  await db.query(`
    update fact set amount = 2 where day = '${DAY}' and id <= 10;
    insert into src values ('${DAY}', 101, 2);
    alter table fact add constraint gate check (id <> 101 or pass_gate('row'))`);
  await closeGate(db, 'row');
  const run = await direct.open(diffed(), day);
  const writing = run.write(DAY);
  await untilAtGate(db, DAY);
  await db.query(`delete from fact where day = '${DAY}' and id = 7`);
  await openGate(db, 'row');
  const changes = { added: 2, removed: 0, changed: 90, unchanged: 9 };
  expect(await writing).toMatchObject({ attempts: 2, rowsBefore: 99, rowsAfter: 101, changes });
  expect((await fingerprints(db)).get(DAY)).toMatchObject({ rows: 101, sum: '202.00' });
  await run.close();
});

test('the row that a trigger does not let be changed fails the day, and nothing is changed', async () => {
  await db.query(`
    create or replace function keep() returns trigger language plpgsql as 'begin return null; end';
    create trigger keeping before update on fact for each row when (old.id = 7) execute function keep()`);
  const before = await fingerprints(db);
  await expect(direct.run(diffed(), day)).rejects.toMatchObject({ info: { type: 'RowsStay' } });
  expect(await fingerprints(db)).toEqual(before);
});

test('the row that a trigger alters is the run’s own', async () => {
  await db.query(`
    create or replace function alter_row() returns trigger language plpgsql as 'begin new.amount = 5; return new; end';
    create trigger altering before insert or update on fact for each row when (new.id = 7) execute function alter_row()`);
  await direct.run(diffed(), day);
  expect((await fingerprints(db)).get(DAY)).toMatchObject({ rows: 100, sum: '203.00' });
});

test('the row that a trigger does not let in is not counted', async () => {
  await db.query(`
    delete from fact where id > 90;
    create or replace function keep_out() returns trigger language plpgsql as 'begin return null; end';
    create trigger keeping_out before insert on fact for each row when (new.id = 100) execute function keep_out()`);
  const { replaced } = await direct.run(diffed(), day);
  const changes = { added: 9, removed: 0, changed: 90, unchanged: 0 };
  expect(replaced).toMatchObject([{ rowsBefore: 90, rowsAfter: 99, changes }]);
});

/** The index of such a key compares ranges by what they have in common. */
test('a key without overlaps is none by which rows are told apart', async () => {
  await db.query(`
    drop table fact; create table fact (day date, id int4range, valid int4range, primary key (id, valid without overlaps))`);
  const build = () =>
    sql`select date '2024-03-04' as day, int4range(1, 2) as id, int4range(i, i + 5) as valid from (values (1), (6)) v (i)`;
  expect((await direct.plan(diffed({ build }), day)).refusals).toEqual([expect.stringContaining('has no unique key')]);
});

test('a key is compared as its index compares it', async () => {
  await db.query(`
    create collation if not exists any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    drop table fact; create table fact (day date not null, id text collate any_case not null, amount numeric);
    create unique index on fact (id collate "C");
    insert into fact values ('${DAY}', 'a', 1), ('${DAY}', 'A', 2)`);
  const build = () => sql`select date '2024-03-04' as day, id, 5 as amount from (values ('a'), ('A'), ('b')) v (id)`;
  const plan = await direct.plan(diffed({ build }), day);
  expect(plan.refusals).toEqual([expect.stringContaining('has no unique key')]);
});

test('a key of the table alone is none where tables inherit from it', async () => {
  await db.query(`
    drop table fact; create table fact (day date, id bigint, amount numeric, primary key (day, id));
    create table fact_more () inherits (fact);
    insert into fact values ('${DAY}', 1, 1); insert into fact_more values ('${DAY}', 1, 1), ('${DAY}', 1, 2)`);
  const plan = await direct.plan(diffed(), day);
  expect(plan.refusals).toEqual([expect.stringContaining('has no unique key')]);
});
