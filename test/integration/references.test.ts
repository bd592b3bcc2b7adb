import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FACT, NEW, factTable, fingerprints } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

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
