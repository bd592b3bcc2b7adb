import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { strategies } from '../support/fact.js';
import { GATED_FACT, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { replacements } from '../support/ledger.js';
import { untilAtGate } from '../support/sessions.js';

const one = { table: 'fact', from: '2024-03-04', to: '2024-03-04' };

describe.each(strategies)('%s', (strategy) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await createHarness(GATED_FACT, { tables: [gatedFact({ strategy })] });
  });
  beforeEach(() => resetFact(harness.db));
  afterAll(() => harness.close());

  const INSERTS = `insert into fact values (new.day, 1000, 0);`;
  const UPDATES = `update fact set amount = 3 where day = new.day and id = 1;`;
  /** Whoever writes in a block with an exception handler writes in a subtransaction, which has a number of its own. */
  const inBlock = (statement: string) => `begin ${statement} exception when unique_violation then null; end;`;
  const AT_ONCE = 'create trigger meddling after insert or update on fact';
  const AT_COMMIT = 'create constraint trigger meddling after insert or update on fact deferrable initially deferred';

  const cases = [
    { what: 'inserts', body: INSERTS, trigger: AT_ONCE, rows: 101, isKnown: true },
    { what: 'inserts in a block', body: inBlock(INSERTS), trigger: AT_ONCE, rows: 101, isKnown: false },
    { what: 'updates in a block', body: inBlock(UPDATES), trigger: AT_ONCE, rows: 100, isKnown: false },
    { what: 'inserts at the commit', body: INSERTS, trigger: AT_COMMIT, rows: 101, isKnown: true },
    { what: 'updates at the commit in a block', body: inBlock(UPDATES), trigger: AT_COMMIT, rows: 100, isKnown: false },
  ].flatMap((one) => ['replaced', 'created'].map((how) => ({ how, ...one })));

  test.each(cases)(
    'the row that a trigger $what is the run’s own, in a day that is $how',
    async ({ how, body, trigger, rows, isKnown }) => {
      const { db, client } = harness;
      await db.query(`
      create or replace function meddle() returns trigger language plpgsql as $$ begin ${body} return null; end $$;
      ${trigger} for each row when (new.id = 1 and pg_trigger_depth() = 0) execute function meddle()`);
      if (how === 'created') await db.query('drop table fact_20240304');
      expect(await (await client.start(one)).result()).toMatchObject({ partitions: 1, rowsAfter: rows });
      const recorded = await db.query(
        'select row_count::int as rows, xid is not null as "isKnown" from backfill.partition',
      );
      expect(recorded.rows).toEqual([{ rows, isKnown }]);
      const found = await db.query(`select count(*)::int as n from fact where day = '2024-03-04'`);
      expect(found.rows).toEqual([{ n: rows }]);
    },
  );

  test.each(['', 'deferrable initially deferred'])(
    'a trigger of deleted rows finds names as the definition does, %s',
    async (deferred) => {
      const { db, client } = harness;
      await db.query(`
      update src set id = id + 1000;
      drop table if exists gone; create table gone (day date);
      create or replace function note() returns trigger language plpgsql as $$ begin
        insert into gone values (old.day); return null; end $$;
      create ${deferred && 'constraint'} trigger noting after delete on fact ${deferred} for each row execute function note()`);
      expect(await (await client.start(one)).result()).toMatchObject({ partitions: 1, rowsAfter: 100 });
      expect((await db.query('select count(*)::int as n from gone')).rows).toEqual([{ n: 100 }]);
    },
  );

  /** The gate of a trigger is passed after the old rows were looked at. */
  test('the row that another session writes meanwhile is not the run’s, and goes with the next attempt', async () => {
    const { db, client } = harness;
    await db.query(`
    create or replace function meddle() returns trigger language plpgsql as $$ begin
      perform pass_gate('trigger'); ${inBlock(UPDATES)} return null; end $$;
    ${AT_ONCE} for each row when (new.id = 1 and pg_trigger_depth() = 0) execute function meddle()`);
    await closeGate(db, 'trigger');
    const run = await client.start(one);
    const { planId } = await untilAtGate(db, '2024-03-04');
    await db.query(`insert into fact values ('2024-03-04', 5000, 9)`);
    await openGate(db, 'trigger');
    expect(await run.result()).toMatchObject({ partitions: 1, rowsAfter: 100 });
    expect(await replacements(db, planId)).toMatchObject([{ key: '2024-03-04', attempt: 2 }]);
    expect((await db.query(`select from fact where id = 5000`)).rowCount).toBe(0);
  });
});
