import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { FACT, NEW, factTable, fingerprints } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';

const one = { table: 'fact', from: '2024-03-04', to: '2024-03-04' };

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness('', { tables: [factTable()] });
});
beforeEach(() => harness.db.query(`drop table if exists fact, src, note, kind cascade; ${FACT}`));
afterAll(() => harness.close());

test.each([
  ['the table', 'fact', 'public.note', 'note_fkey'],
  ['one of its partitions', 'fact_20240304', 'public.note', 'note_fkey'],
])('a table that refers to rows of %s is named in the plan, which is refused', async (_, to, by, key) => {
  const { db, client } = harness;
  await db.query(`
    create table note (day date, id bigint, constraint note_fkey foreign key (day, id) references ${to} on delete cascade);
    insert into note values ('2024-03-04', 7)`);
  const before = await fingerprints(db);
  const plan = await client.plan(one);
  expect(plan.refusals).toEqual([
    `${by} refers to rows of public.fact (foreign key ${key}); replacing them could delete or break its own. Strategy "diff" keeps the rows that the build gives again`,
  ]);
  await expect((await client.start({ plan: plan.planId })).result()).rejects.toMatchObject({ type: 'InvalidRequest' });
  expect(await fingerprints(db)).toEqual(before);
  expect((await db.query('select from note')).rowCount).toBe(1);
});

test('a table that refers to its own rows is refused', async () => {
  const { db, client } = harness;
  await db.query(`
    alter table fact add before bigint;
    alter table fact add constraint chain foreign key (day, before) references fact (day, id)`);
  const build = `public.fact refers to rows of public.fact (foreign key chain)`;
  expect((await client.plan(one)).refusals).toContainEqual(expect.stringContaining(build));
});

test.each(['', 'deferrable initially deferred'])(
  'a table that itself refers to another is replaced, and a reference that leads nowhere fails the day, %s',
  async (when) => {
    const { db, client } = harness;
    await db.query(`
      create table kind (id bigint primary key); insert into kind select generate_series(1, 100);
      alter table fact add constraint of_kind foreign key (id) references kind ${when}`);
    await (await client.start(one)).result();
    expect((await fingerprints(db)).get('2024-03-04')).toMatchObject(NEW);
    await db.query(`insert into src values ('2024-03-05', 101, 1)`);
    const before = await fingerprints(db);
    const run = await client.start({ table: 'fact', from: '2024-03-05', to: '2024-03-05' });
    await expect(run.result()).rejects.toMatchObject({
      key: '2024-03-05',
      failure: { type: 'SqlFailed', sqlstate: '23503', message: expect.stringContaining('of_kind') },
    });
    expect(await fingerprints(db)).toEqual(before);
  },
);

const wrong =
  'a row whose referred values the build changes would change it without a word; make it "on update no action"';

test.each(['cascade', 'set null', 'set default'])(
  'diff: values that another table refers to "on update %s" are changed by no build',
  async (effect) => {
    const { db, client } = harness;
    const build: TableInput['build'] = ({ startDate }) =>
      sql`select day, id, amount, 2 as code from src where day = ${startDate}`;
    await harness.restartWorker({ tables: [factTable({ strategy: 'diff', build })] });
    await db.query(`
      alter table fact add code int; create unique index code on fact (day, code);
      create table note (day date, code int, constraint note_fkey foreign key (day, code) references fact (day, code) on update ${effect})`);
    expect((await client.plan(one)).refusals).toEqual([
      `public.note refers to rows of public.fact with "on update ${effect}" (foreign key note_fkey): ${wrong}`,
    ]);
  },
);

test('diff: a key that is spelt in one way only keeps its bits, and may be referred to "on update cascade"', async () => {
  const { db, client } = harness;
  await harness.restartWorker({ tables: [factTable({ strategy: 'diff' })] });
  const refer = (type: string) =>
    db.query(`create table note (day date, id ${type}, constraint note_fkey foreign key (day, id) references fact on update cascade);
      insert into note values ('2024-03-04', 7)`);
  await refer('bigint');
  expect((await client.plan(one)).refusals).toEqual([]);
  expect(await (await client.start(one)).result()).toMatchObject({ changes: { changed: 100, removed: 0 } });
  expect((await db.query(`select day::text, id::text from note`)).rows).toEqual([{ day: '2024-03-04', id: '7' }]);

  // 7 and 7.0 are one key, and two rows to those that refer to it.
  await db.query(`drop table note; alter table fact alter id type numeric; alter table src alter id type numeric`);
  await refer('numeric');
  expect((await client.plan(one)).refusals).toEqual([
    `public.note refers to rows of public.fact with "on update cascade" (foreign key note_fkey): ${wrong}`,
  ]);
});

test('diff: rows in the default partition that others refer to cannot move into one of their own, which the plan says', async () => {
  const { db, client } = harness;
  await harness.restartWorker({ tables: [factTable({ strategy: 'diff' })] });
  await db.query(`
    create table fact_default partition of fact default; drop table fact_20240304;
    insert into fact values ('2024-03-04', 7, 1);
    create table note (day date, id bigint, constraint note_fkey foreign key (day, id) references fact);
    insert into note values ('2024-03-04', 7)`);
  const { refusals } = await client.plan({ table: 'fact', from: '2024-03-03', to: '2024-03-05' });
  expect(refusals).toEqual([
    'Rows of 2024-03-04 are in the default partition public.fact_default, from which they cannot be moved while others refer to rows of public.fact: exclude it, or drop the foreign keys for the time of the run',
  ]);
  await db.query('delete from note; alter table note drop constraint note_fkey');
  expect((await client.plan(one)).refusals).toEqual([]);
});
