import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { changedDays } from '../support/changed-days.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { type Direct, openDirect } from '../support/direct.js';
import { EVERY_TYPE, OWN_TYPES } from '../support/every-type.js';
import { FACT, OLD, factTable, fingerprints, march, strategies } from '../support/fact.js';
import type { TableInput } from '../support/harness.js';
import { copiesOf, rowsOf } from '../support/kept.js';

const days = { from: '2024-03-03', to: '2024-03-05' };

/** Fewer, other, and more rows than before. */
const CHANGED = `delete from src where id = 100; insert into src select distinct day, 101, 7 from src;
  update src set amount = 1 where id <= 50`;

const layouts = {
  partitioned: FACT,
  plain: `${FACT} create table p (like fact including all); insert into p select * from fact;
  drop table fact; alter table p rename to fact; analyze fact;`,
};

describe.each(Object.keys(layouts) as (keyof typeof layouts)[])('a %s table', (layout) => {
  describe.each(strategies)('written by %s', (strategy) => {
    const fact = (changes: Partial<TableInput> = {}) => factTable({ strategy, ...changes });
    let db: TestDatabase;
    let direct: Direct;
    beforeEach(async () => {
      db = await createDatabase();
      await db.query(layouts[layout]);
      await db.query(CHANGED);
      direct = openDirect(db);
      return async () => {
        await direct.end();
        await db.drop();
      };
    });

    test('is as it was after an undo, as the run had made it after an undo of that, and so on', async () => {
      const before = await rowsOf(db, 'fact');
      const versions = await fingerprints(db);
      const { plan } = await direct.run(fact(), days);
      const after = await rowsOf(db, 'fact');
      expect(after).not.toEqual(before);
      const undone = await direct.run(fact(), { undo: plan.planId });
      expect(await rowsOf(db, 'fact')).toEqual(before);
      expect(changedDays(versions, await fingerprints(db))).toEqual(march(3, 5));
      expect(undone.plan).toMatchObject({ ...days, undoes: { planId: plan.planId }, counts: { replace: 3, leave: 0 } });
      const redone = await direct.run(fact(), { undo: undone.plan.planId });
      expect(await rowsOf(db, 'fact')).toEqual(after);
      await direct.run(fact(), { undo: redone.plan.planId });
      expect(await rowsOf(db, 'fact')).toEqual(before);
    });

    test('gets a part of a run back, then the rest', async () => {
      const before = await fingerprints(db);
      const { plan } = await direct.run(fact(), days);
      const part = { undo: plan.planId, from: '2024-03-04', to: '2024-03-04' };
      await direct.run(fact(), part);
      const some = await fingerprints(db);
      expect(some.get('2024-03-04')).toMatchObject(OLD);
      expect(some.get('2024-03-03')).not.toMatchObject(OLD);
      const rest = await direct.run(fact(), { undo: plan.planId });
      expect(rest.plan.leftAlone).toEqual([{ key: '2024-03-04', why: 'was put back already' }]);
      expect(changedDays(some, await fingerprints(db))).toEqual(['2024-03-03', '2024-03-05']);
      for (const [day, { rows, sum }] of before) expect((await fingerprints(db)).get(day)).toMatchObject({ rows, sum });
    });

    test('keeps rows only as long as it can say so: without keepReplaced nothing is written, and nothing can be undone', async () => {
      const { plan, replaced } = await direct.run(fact({ keepReplaced: '0' }), days);
      expect(replaced).toHaveLength(3);
      expect(await copiesOf(db)).toEqual([]);
      expect((await db.query('select from backfill.kept')).rowCount).toBe(0);
      expect((await direct.plan(fact(), { undo: plan.planId })).refusals).toEqual([
        expect.stringContaining('kept nothing of what it replaced'),
        expect.stringMatching(/^2024-03-03, 2024-03-04, 2024-03-05: what it held before is not kept/),
      ]);
    });

    test('is put back although its definition is another one, and its ledger says what it held before', async () => {
      const ledger = () =>
        db.query(`select key, build_digest, provisional, row_count from backfill.partition order by key`);
      await direct.run(fact(), { from: '2024-03-03', to: '2024-03-03' });
      const before = (await ledger()).rows;
      const other = fact({
        build: ({ startDate }) => sql`select day, id, amount * 3 as amount from src where day = ${startDate}`,
        checks: [{ kind: 'everyRow', name: 'tripled', condition: 'amount >= 3' }],
      });
      const { plan } = await direct.run(other, days);
      await direct.run(fact({ whenEmpty: 'fail' }), { undo: plan.planId });
      const after = (await ledger()).rows;
      expect(after[0]).toEqual(before[0]);
      // Never built by this software, as before.
      expect(after.slice(1)).toMatchObject([{ build_digest: null }, { build_digest: null }]);
      const outdated = await direct.plan(fact(), { ...days, select: 'outdated' } as never);
      expect(outdated.partitions.map(({ key }) => key)).toEqual(['2024-03-04', '2024-03-05']);
    });

    test('is left alone where another run has written since, and the plan says which, when and by whom', async () => {
      const { plan } = await direct.run(fact(), days);
      const later = await direct.run(fact(), { from: '2024-03-04', to: '2024-03-04' });
      const undo = await direct.plan(fact(), { undo: plan.planId });
      expect(undo.refusals).toEqual([
        expect.stringMatching(
          new RegExp(
            `^2024-03-04: was written since by direct ${later.plan.planId}, at 2\\d{3}-.*Z; undo that first, or leave it out`,
          ),
        ),
      ]);
      await expect(direct.open(fact(), { undo: plan.planId })).rejects.toMatchObject({
        info: { type: 'InvalidRequest' },
      });
      await direct.run(fact(), { undo: plan.planId, from: '2024-03-05', to: '2024-03-05' });
      // Undone, that run is out of the way.
      await direct.run(fact(), { undo: later.plan.planId });
      const again = await direct.plan(fact(), { undo: plan.planId, from: '2024-03-04', to: '2024-03-04' });
      expect(again.refusals).toEqual([expect.stringContaining('was written since')]);
    });

    test('stays as it is where it was written between the plan of the undo and its run', async () => {
      const { plan } = await direct.run(fact(), days);
      const run = await direct.open(fact(), { undo: plan.planId });
      await db.query(`update backfill.partition set generation = 9 where key = '2024-03-04'`);
      const before = await fingerprints(db);
      await expect(run.attempt('2024-03-04')).rejects.toMatchObject({
        info: { type: 'PlanDrift', message: expect.stringContaining('generation 1 → 9') },
      });
      expect(await fingerprints(db)).toEqual(before);
      await run.close();
    });

    test('is not put back by keys that mean other rows today', async () => {
      const { plan } = await direct.run(fact(), days);
      const berlin = fact({ partitionBy: { column: 'day', grain: 'day', timeZone: 'Europe/Berlin' } });
      await expect(direct.plan(berlin, { undo: plan.planId })).rejects.toMatchObject({
        info: { type: 'InvalidRequest', message: expect.stringContaining('was cut by day in UTC on day when direct') },
      });
      await expect(
        direct.open(fact(), { undo: plan.planId, from: '2024-03-1', to: '2024-03-02' }),
      ).rejects.toMatchObject({
        info: { type: 'InvalidRequest' },
      });
    });

    test('whose rows came from code is put back without it', async () => {
      const before = await rowsOf(db, 'fact');
      const rows = ({ startDate }: { readonly startDate: string }) => [{ day: startDate, id: 7, amount: '9.00' }];
      const { name, partitionBy } = fact();
      const columns = ['day', 'id', 'amount'];
      const fromCode: TableInput = { name, partitionBy, strategy, rows, version: '1', columns };
      const { plan } = await direct.run(fromCode, days);
      expect((await fingerprints(db)).get('2024-03-04')).toMatchObject({ rows: 1, sum: '9.00' });
      await direct.run({ ...fromCode, rows: () => [] }, { undo: plan.planId });
      expect(await rowsOf(db, 'fact')).toEqual(before);
    });

    test('that has lost its key since is put back where every row is kept, and else not', async () => {
      const before = await rowsOf(db, 'fact');
      const { plan } = await direct.run(fact(), days);
      await db.query(`alter table fact drop constraint ${layout === 'plain' ? 'p' : 'fact'}_pkey`);
      const undo = fact({ strategy: 'delete-insert' });
      if (strategy === 'diff') {
        const { refusals } = await direct.plan(undo, { undo: plan.planId });
        expect(refusals).toEqual([expect.stringContaining('strategy "diff" needs one')]);
      } else {
        await direct.run(undo, { undo: plan.planId });
        expect(await rowsOf(db, 'fact')).toEqual(before);
      }
    });

    test('with triggers that keep and alter rows is as it was', async () => {
      await db.query(`
        create function alter_row() returns trigger language plpgsql as $$ begin
          if tg_op = 'INSERT' and new.id = 101 then return null; end if;
          if new.id = 61 then new.amount := new.amount + 1000; end if;
          return new; end $$;
        create trigger altering before insert or update on fact for each row execute function alter_row()`);
      const before = await rowsOf(db, 'fact');
      const { plan } = await direct.run(fact(), days);
      expect(await rowsOf(db, 'fact')).toContain('(2024-03-04,61,1002.00)');
      await db.query(`drop function alter_row cascade`);
      await direct.run(fact(), { undo: plan.planId });
      expect(await rowsOf(db, 'fact')).toEqual(before);
    });

    test('is not put back from a copy that somebody has written to', async () => {
      const { plan } = await direct.run(fact(), days);
      const [copy = ''] = await copiesOf(db);
      await db.query(
        `delete from backfill.${copy} where ctid = (select min(ctid) from backfill.${copy} where backfill_key = '2024-03-04' and not backfill_is_new)`,
      );
      const before = await fingerprints(db);
      const run = await direct.open(fact(), { undo: plan.planId });
      const [expected, left] = strategy === 'diff' ? [50, 49] : [100, 99];
      await expect(run.attempt('2024-03-04')).rejects.toMatchObject({
        info: {
          type: 'PlanDrift',
          message: `2024-03-04: of the ${expected} rows that direct ${plan.planId} replaced the copy ${copy} has ${left}; somebody has written to it`,
        },
      });
      expect(await fingerprints(db)).toEqual(before);
      await run.close();
    });

    test('gets the rows of a failed run back, too, and of those only', async () => {
      const run = await direct.open(fact(), days);
      await run.write('2024-03-03');
      const before = await fingerprints(db);
      await run.close();
      const undone = await direct.run(fact(), { undo: run.plan.planId });
      expect(undone.plan).toMatchObject({ counts: { replace: 1, leave: 2 } });
      expect(undone.plan.leftAlone).toMatchObject([
        { key: '2024-03-04', why: 'that run did not write it' },
        { key: '2024-03-05', why: 'that run did not write it' },
      ]);
      expect(changedDays(before, await fingerprints(db))).toEqual(['2024-03-03']);
      expect((await fingerprints(db)).get('2024-03-03')).toMatchObject(OLD);
    });

    test('keeps what follows the change: by diff, rows that stay as they are are not copied', async () => {
      const { plan } = await direct.run(fact(), { from: '2024-03-03', to: '2024-03-03' });
      const [copy = ''] = await copiesOf(db);
      const { rows } = await db.query(
        `select backfill_is_new as new, count(*)::int as n from backfill.${copy} group by 1 order by 1`,
      );
      // Of 100 old rows 49 change, one goes; one comes.
      expect(rows).toEqual(
        strategy === 'diff'
          ? [
              { new: false, n: 50 },
              { new: true, n: 1 },
            ]
          : [{ new: false, n: 100 }],
      );
      expect(copy).toBe(`kept_${plan.planId.replaceAll('-', '')}`);
    });

    test('is not written where the copy would be too large, unless little may change', async () => {
      await db.query('analyze');
      const small = fact({ keepReplacedAtMost: '1 kB' });
      const { refusals, warnings } = await direct.plan(small, days);
      const text = expect.stringMatching(
        /^To keep what is replaced takes about \d+.* kB, and keepReplacedAtMost is 1 kB: raise it/,
      );
      expect([refusals, warnings.filter((one) => one.includes('keepReplacedAtMost'))]).toEqual(
        strategy === 'diff' ? [[], [text]] : [[text], []],
      );
      expect((await direct.plan(fact({ keepReplacedAtMost: '1 kB', keepReplaced: '0' }), days)).refusals).toEqual([]);
    });

    test('with columns that it numbers and computes itself gets every value back', async () => {
      // Up to PostgreSQL 16 a table with partitions cannot get one.
      const { rows } = await db.query<{ version: number }>(
        `select current_setting('server_version_num')::int as version`,
      );
      const canNumber = layout === 'plain' || (rows[0]?.version ?? 0) >= 170000;
      if (canNumber) await db.query('alter table fact add no bigint generated always as identity');
      await db.query(`
        alter table fact add doubled numeric generated always as (amount * 2) stored,
                         add noted text default 'noted'; update fact set noted = 'before'`);
      const before = await rowsOf(db, 'fact');
      const { plan } = await direct.run(fact(), days);
      expect(await rowsOf(db, 'fact')).not.toEqual(before);
      await direct.run(fact(), { undo: plan.planId });
      expect(await rowsOf(db, 'fact')).toEqual(before);
    });

    test('keeps columns that are called as the copy calls its own', async () => {
      await db.query(
        `alter table fact add backfill_key int default 1, add backfill_is_new int default 2, add backfill_key_ int default 3`,
      );
      const before = await rowsOf(db, 'fact');
      const { plan } = await direct.run(fact(), days);
      await direct.run(fact(), { undo: plan.planId });
      expect(await rowsOf(db, 'fact')).toEqual(before);
    });

    describe('that was altered since', () => {
      const lossless = [
        ['a wider type', 'alter table fact alter amount type numeric(20,4)', []],
        [
          'a column that came, with a default',
          'alter table fact add more int not null default 5',
          ['Columns that came since get their defaults: more'],
        ],
        [
          'a column that came, and may be null',
          'alter table fact add more int',
          ['Columns that came since get their defaults: more'],
        ],
      ] as const;
      test.each(lossless)('by %s is put back', async (_name, change, warnings) => {
        const values = async () =>
          (await db.query(`select day, id, amount::numeric(12,2) from fact order by 1, 2`)).rows;
        const before = await values();
        const { plan } = await direct.run(fact(), days);
        await db.query(change);
        const undo = await direct.run(fact(), { undo: plan.planId });
        expect(undo.plan.warnings).toEqual(warnings);
        expect(await values()).toEqual(before);
      });

      const lossy = [
        ['a column that is gone', 'alter table fact drop amount', 'public.fact has no column amount any more'],
        ['another name', 'alter table fact rename amount to net', 'public.fact has no column amount any more'],
        [
          'a type that rounds',
          `alter table fact alter amount type numeric(12,0)`,
          'public.fact.amount is numeric(12,0) today, which cannot take every value',
        ],
        [
          'a type that is too small',
          `alter table fact alter id type smallint using 1`,
          'public.fact.id is smallint today',
        ],
        [
          'a column that demands a value',
          `alter table fact add more int not null default 1; alter table fact alter more drop default`,
          'public.fact demands a value of more',
        ],
      ] as const;
      test.each(lossy)('by %s is not put back: that would lose data', async (_name, change, message) => {
        await db.query(`update fact set amount = 1.25; update fact set id = 100000 where id = 99`);
        if (change.includes('smallint'))
          await db.query('alter table fact drop constraint if exists fact_pkey, drop constraint if exists p_pkey');
        const wide = fact({ strategy: 'delete-insert' });
        const { plan } = await direct.run(change.includes('smallint') ? wide : fact(), days);
        await db.query(change);
        const undo = await direct.plan(fact(), { undo: plan.planId });
        expect(undo.refusals[0]).toContain(message);
      });
    });
  });
});

describe.each(strategies)('partitions that a run created (%s)', (strategy) => {
  const fact = (changes: Partial<TableInput> = {}) => factTable({ strategy, ...changes });
  const range = { from: '2024-03-10', to: '2024-03-12' };
  let db: TestDatabase;
  let direct: Direct;
  beforeEach(async () => {
    db = await createDatabase();
    await db.query(`${FACT} insert into src select date '2024-03-11' + i % 2, i, 2 from generate_series(1, 100) i`);
    direct = openDirect(db);
    return async () => {
      await direct.end();
      await db.drop();
    };
  });

  test('are emptied, not dropped; and filled again by the undo of that', async () => {
    const before = await rowsOf(db, 'fact');
    const { plan, replaced } = await direct.run(fact(), range);
    expect(replaced.map(({ status }) => status)).toEqual(['replaced', 'created', 'created']);
    const after = await rowsOf(db, 'fact');
    const undone = await direct.run(fact(), { undo: plan.planId });
    expect(undone.replaced).toMatchObject([{ rowsAfter: 100 }, { rowsAfter: 0 }, { rowsAfter: 0 }]);
    expect(await rowsOf(db, 'fact')).toEqual(before);
    const empty = await direct.plan(fact(), { ...range, select: 'missing-or-empty' } as never);
    expect(empty.partitions.map(({ key }) => key)).toEqual(['2024-03-11', '2024-03-12']);
    await direct.run(fact(), { undo: undone.plan.planId });
    expect(await rowsOf(db, 'fact')).toEqual(after);
  });

  test('are left alone where somebody has dropped them since', async () => {
    const { plan } = await direct.run(fact(), range);
    await db.query('drop table fact_20240312');
    const undo = await direct.plan(fact(), { undo: plan.planId });
    expect(undo.leftAlone).toEqual([{ key: '2024-03-12', why: 'has no partition, as before that run' }]);
  });

  test('give rows that lay in the default partition back', async () => {
    await db.query(`create table fact_rest partition of fact default; insert into fact values ('2024-03-12', 7, 9)`);
    const before = await rowsOf(db, 'fact');
    const { plan } = await direct.run(fact(), range);
    await direct.run(fact(), { undo: plan.planId });
    expect(await rowsOf(db, 'fact')).toEqual(before);
  });

  test('need no copy where a run creates only, and no right to make one', async () => {
    const { plan } = await direct.run(fact(), { from: '2024-03-11', to: '2024-03-12' });
    expect(await copiesOf(db)).toEqual([]);
    const undone = await direct.run(fact(), { undo: plan.planId });
    expect(undone.replaced).toMatchObject([
      { rowsBefore: 50, rowsAfter: 0 },
      { rowsBefore: 50, rowsAfter: 0 },
    ]);
  });
});

describe.each(strategies)('a value of every type (%s)', (strategy) => {
  const types = Object.keys(EVERY_TYPE);
  const columns = types.map((type, i) => `c${i} ${type}`).join(', ');
  let db: TestDatabase;
  let direct: Direct;
  beforeAll(async () => {
    db = await createDatabase();
    const inserts = types.flatMap((type, i) =>
      ['null', ...(EVERY_TYPE[type] ?? [])].map(
        (value, n) =>
          `insert into target (day, id, c${i}) values ('2024-03-0${1 + (n % 3)}', ${i * 100 + n}, ${value});`,
      ),
    );
    await db.query(`${OWN_TYPES}
      create table target (gone int, ${columns}, id int, day date, primary key (day, id)) partition by range (day);
      alter table target drop gone;
      create table t1 partition of target for values from ('2024-03-01') to ('2024-03-02');
      create table t2 partition of target for values from ('2024-03-02') to ('2024-03-03');
      create table t3 partition of target for values from ('2024-03-03') to ('2024-03-04');
      ${inserts.join('\n')}`);
    direct = openDirect(db);
  });
  afterAll(async () => {
    await direct.end();
    await db.drop();
  });

  test('comes back bit for bit', async () => {
    const before = await rowsOf(db, 'target');
    expect(before.length).toBeGreaterThan(150);
    const target: TableInput = {
      name: 'target',
      strategy,
      partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
      build: ({ startDate }) =>
        sql`select ${startDate} as day, id, ${sql([
          types
            .slice(1)
            .map((type, i) => `null::${type} as c${i + 1}`)
            .join(', '),
        ] as never)}, 1 as c0 from generate_series(0, 50) id`,
    };
    const { plan } = await direct.run(target, { from: '2024-03-01', to: '2024-03-03' });
    expect(await rowsOf(db, 'target')).toHaveLength(3 * 51);
    await direct.run(target, { undo: plan.planId });
    expect(await rowsOf(db, 'target')).toEqual(before);
  });
});
