import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { changedDays } from '../support/changed-days.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { type Direct, openDirect } from '../support/direct.js';
import { NEW, OLD, factTable, fingerprints, march, strategies } from '../support/fact.js';
import { GATED_FACT, closeGate, openGate, resetFact } from '../support/gate.js';
import type { TableInput } from '../support/harness.js';
import { untilAtGate } from '../support/sessions.js';

const DAY = '2024-03-04';
const day = { from: DAY, to: DAY };
const READ = `select count(*)::int as rows, sum(amount)::text as sum from fact where day = '${DAY}'`;
/** A gate behind the writing of rows, beyond which nothing is compared any more. */
const HOLD = `create or replace function hold() returns trigger language plpgsql as $$ begin
    perform pass_gate('trigger'); return null; end $$;
  create trigger holding after insert or update on fact for each row when (new.id = 50) execute function hold();`;

describe.each(strategies)('%s', (strategy) => {
  const fact = (changes: Partial<TableInput> = {}) => factTable({ strategy, ...changes });

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

  test('a reader sees the old day until the commit, and one with a snapshot of its own goes on seeing it', async () => {
    await db.query(HOLD);
    await closeGate(db, 'trigger');
    const running = direct.run(fact(), day);
    await untilAtGate(db, DAY);
    const snapshot = new pg.Client({ connectionString: db.url });
    await snapshot.connect();
    await snapshot.query('begin isolation level repeatable read');
    expect([await db.query(READ), await snapshot.query(READ)]).toMatchObject([{ rows: [OLD] }, { rows: [OLD] }]);
    await openGate(db, 'trigger');
    await running;
    expect((await db.query(READ)).rows).toEqual([NEW]);
    expect((await snapshot.query(READ)).rows).toEqual([OLD]);
    await snapshot.end();
  });

  test('rows outside stay the same versions, and twice is once', async () => {
    const before = await fingerprints(db);
    await direct.run(fact(), { from: '2024-03-03', to: '2024-03-05' });
    const once = await fingerprints(db);
    expect(changedDays(before, once)).toEqual(march(3, 5));
    await direct.run(fact(), { from: '2024-03-03', to: '2024-03-05' });
    const twice = await fingerprints(db);
    for (const key of march(3, 5)) {
      expect(once.get(key)).toMatchObject(NEW);
      expect(twice.get(key)).toMatchObject(NEW);
    }
    expect(changedDays(once, twice)).toEqual(strategy === 'diff' ? [] : march(3, 5));
  });

  test('an attempt that is repeated finds the record of the first, and changes nothing', async () => {
    await db.query(`delete from src where day = '${DAY}' and id = 100; update src set amount = 1 where id < 10`);
    const run = await direct.open(fact(), day);
    const { status, ...first } = await run.attempt(DAY);
    expect(first).toMatchObject({ rowsBefore: 100, rowsAfter: 99 });
    const before = await fingerprints(db);
    await db.query(`update src set amount = 3`);
    expect(await run.attempt(DAY, 2)).toEqual({ ...first, status: 'already' });
    expect(status).toBe('replaced');
    expect(await fingerprints(db)).toEqual(before);
    expect(await run.lastRead()).toEqual([]);
    await run.close();
  });

  test('C05 a source without rows fails the day, or empties it where that is asked for', async () => {
    await db.query(`delete from src where day = '${DAY}'`);
    const before = await fingerprints(db);
    await expect(direct.run(fact(), day)).rejects.toMatchObject({
      info: { type: 'EmptyBuild', message: expect.stringContaining('the 100 old rows stay') },
    });
    expect(await fingerprints(db)).toEqual(before);
    const { replaced } = await direct.run(fact({ whenEmpty: 'empty' }), day);
    expect(replaced).toMatchObject([{ rowsBefore: 100, rowsAfter: 0 }]);
    expect(changedDays(before, await fingerprints(db))).toEqual([DAY]);
    expect((await fingerprints(db)).has(DAY)).toBe(false);
    await direct.run(fact({ whenEmpty: 'empty' }), day);
  });

  test('a key that the build gives twice fails the day, and nothing is changed', async () => {
    await db.query(`insert into src values ('${DAY}', 1, 9)`);
    const before = await fingerprints(db);
    await expect(direct.run(fact(), day)).rejects.toMatchObject({ info: { type: 'SqlFailed', sqlstate: '23505' } });
    expect(await fingerprints(db)).toEqual(before);
  });

  test('a check that does not hold fails the day and shows rows, whoever wrote them, and nothing is changed', async () => {
    await db.query(`update src set amount = 1 where id = 7`);
    const before = await fingerprints(db);
    const checks = [{ kind: 'everyRow', name: 'all are doubled', condition: 'amount = 2' }] as const;
    await expect(direct.run(fact({ checks }), day)).rejects.toMatchObject({
      info: {
        type: 'CheckFailed',
        check: 'all are doubled',
        message: expect.stringContaining('found 1 row that does not meet it'),
      },
    });
    expect(await fingerprints(db)).toEqual(before);
    await direct.run(fact({ checks: [{ kind: 'rowCount', name: 'all there', min: 100, max: 100 }] }), day);
  });

  test('a day that the run creates has its rows, of an index and a default, and is replaced by the next one', async () => {
    await db.query(`drop table fact_20240304; create index by_amount on fact (amount)`);
    const before = await fingerprints(db);
    const first = await direct.run(fact(), { from: '2024-03-03', to: '2024-03-05' });
    expect(first.replaced.map(({ status }) => status)).toEqual(['replaced', 'created', 'replaced']);
    await db.query(`update src set amount = 3 where id > 50`);
    const second = await direct.run(fact(), day);
    expect(second.replaced).toMatchObject([{ status: 'replaced', rowsBefore: 100, rowsAfter: 100 }]);
    expect((await fingerprints(db)).get(DAY)).toMatchObject({ rows: 100, sum: '250.00' });
    expect(changedDays(before, await fingerprints(db))).toEqual(march(3, 5));
  });

  test('the row that a trigger does not let go fails the day at the first attempt, and nothing is changed', async () => {
    await db.query(`
      delete from src where day = '${DAY}' and id = 7;
      create or replace function keep() returns trigger language plpgsql as 'begin return null; end';
      create trigger keeping before delete on fact for each row when (old.id = 7) execute function keep()`);
    const before = await fingerprints(db);
    await expect(direct.run(fact(), day)).rejects.toMatchObject({
      info: {
        type: 'RowsStay',
        message: `${DAY}: the build gave 99 rows and 100 are there; a trigger of the table keeps rows from being deleted`,
      },
    });
    expect(await fingerprints(db)).toEqual(before);
  });

  test('the row that another session adds meanwhile makes the attempt a vain one, and goes with the next', async () => {
    await db.query(HOLD);
    await closeGate(db, 'trigger');
    const run = await direct.open(fact(), day);
    const writing = run.write(DAY);
    await untilAtGate(db, DAY);
    await db.query(`insert into fact values ('${DAY}', 5000, 9)`);
    await openGate(db, 'trigger');
    expect(await writing).toMatchObject({ attempts: 2, rowsBefore: 101, rowsAfter: 100 });
    expect((await fingerprints(db)).get(DAY)).toMatchObject(NEW);
    expect(await run.lastRead()).toEqual([]);
    await run.close();
  });

  test('columns that make their own values make them for new rows, and the table computes what it generates', async () => {
    await db.query(`
      drop table fact;
      create table fact (day date, id bigint, no bigint generated always as identity, amount numeric(12,2),
                         doubled numeric generated always as (amount * 2) stored, noted text default 'noted ' || 1,
                         primary key (day, id));
      insert into fact (day, id, amount, noted) select '${DAY}', i, 2, 'before' from generate_series(1, 100) i;
      update src set amount = 3 where id between 11 and 20; delete from src where id = 100; insert into src values ('${DAY}', 101, 4)`);
    await direct.run(fact(), day);
    const { rows } = await db.query(
      `select min(id)::int as first, count(*)::int as n, sum(amount)::int as sum, noted, bool_and(doubled = 2 * amount) as doubled,
              bool_and(no > 100) as anew from fact group by noted, no > 100 order by 1`,
    );
    const added = { first: 101, n: 1, sum: 4, noted: 'noted 1', doubled: true, anew: true };
    const kept = { first: 1, n: 99, sum: 89 * 2 + 30, noted: 'before', doubled: true, anew: false };
    expect(rows).toEqual(strategy === 'diff' ? [kept, added] : [{ ...added, first: 1, n: 100, sum: kept.sum + 4 }]);
  });

  test('values of domains are kept, and one that its domain forbids fails the day', async () => {
    await db.query(`
      drop domain if exists label, positive cascade;
      create domain label as text not null check (value <> ''); create domain positive as numeric(12,2) check (value > 0);
      drop table fact; create table fact (day date, id label, amount positive, primary key (day, id)) partition by range (day);
      create table fact_20240304 partition of fact for values from ('${DAY}') to ('2024-03-05');
      insert into fact select day, id, amount / 2 from src where day = '${DAY}'`);
    const build: TableInput['build'] = ({ startDate }) =>
      sql`select day, id::text as id, amount from src where day = ${startDate}`;
    await direct.run(fact({ build }), day);
    expect((await db.query(READ)).rows).toEqual([NEW]);
    await db.query(`update src set amount = 0 where id = 7`);
    await expect(direct.run(fact({ build }), day)).rejects.toMatchObject({ info: { sqlstate: '23514' } });
    expect((await db.query(READ)).rows).toEqual([NEW]);
  });

  test('C20 C21 every name may need quotes, have 63 bytes, or be one of ours', async () => {
    const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
    const [schema, name] = [`Sales "${'s'.repeat(56)}`, `${'ä'.repeat(31)}x`];
    const [table, id, key] = [`${quoted(schema)}.${quoted(name)}`, quoted(`select ${'c'.repeat(56)}`), quoted(`k"`)];
    await db.query(`
      drop schema if exists ${quoted(schema)} cascade; create schema ${quoted(schema)};
      create table ${table} ("Day" date, ${id} int, s int, t text, b int, "naïve""q" text,
                             constraint ${key} primary key ("Day", ${id}, s)) partition by range ("Day");
      create table ${quoted(schema)}."Order_p1" partition of ${table} for values from ('2024-03-03') to ('${DAY}');
      create table ${quoted(schema)}."Order p2" partition of ${table} for values from ('${DAY}') to ('2024-03-05');
      insert into ${table} select date '2024-03-03' + i % 2, i, 1, 'old', 1, 'old' from generate_series(1, 10) i`);
    const text = (part: string) => sql([part] as unknown as TemplateStringsArray);
    const build: TableInput['build'] = ({ startDate }) =>
      sql`select ${startDate} as "Day", i as ${text(id)}, 1 as s, 'new' as t, i as b, 'it''s' as "naïve""q" from generate_series(5, 8) i`;
    const partitionBy = { column: 'Day', grain: 'day', timeZone: 'UTC' } as const;
    const input = { name: table, partitionBy, strategy, build };
    for (const rowsBefore of [5, 4]) {
      const { replaced } = await direct.run(input, { from: DAY, to: '2024-03-05' });
      expect(replaced).toMatchObject([
        { rowsBefore, rowsAfter: 4 },
        { rowsBefore: rowsBefore === 5 ? 0 : 4, rowsAfter: 4 },
      ]);
    }
    const { rows } = await db.query(
      `select "Day" as day, count(*)::int as n, min("naïve""q") as q from ${table} group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { day: '2024-03-03', n: 5, q: 'old' },
      { day: DAY, n: 4, q: `it's` },
      { day: '2024-03-05', n: 4, q: `it's` },
    ]);
  });
});
