import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sql } from '../../src/config/define.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { FACT, NEW, factTable, fingerprints } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';

const day = { table: 'fact', from: '2024-03-04', to: '2024-03-04' };

let orders: TestDatabase;
let harness: Harness;
beforeAll(async () => {
  orders = await createDatabase();
  harness = await createHarness('', { tables: [] });
});
beforeEach(async () => {
  await harness.db.query(`drop table if exists fact, src cascade; ${FACT} drop table src`);
  await orders.query(`drop table if exists fact, src cascade; ${FACT} drop table fact`);
});
afterAll(async () => {
  await harness.close();
  await orders.drop();
});

const withTable = (changes: Partial<TableInput>) =>
  harness.restartWorker({ tables: [factTable(changes)], sources: { 'orders-db': orders.url } });
const outcome = async (request = day) => (await harness.client.start(request)).result();

const { name, partitionBy } = factTable();
type Rows = NonNullable<TableInput['rows']>;
const fromCode = (rows: Rows, changes: Partial<TableInput> = {}): Promise<void> =>
  harness.restartWorker({ tables: [{ name, partitionBy, rows, version: '1', ...changes }] });

describe.each(['delete-insert', 'diff'] as const)('written by %s', (strategy) => {
  test('rows of another PostgreSQL replace a day, are created, and every other day is untouched', async () => {
    const { db } = harness;
    await db.query('drop table fact_20240305');
    const before = await fingerprints(db);
    await withTable({ source: 'orders-db', strategy });
    expect(await outcome({ ...day, to: '2024-03-05' })).toMatchObject({ partitions: 2, rowsAfter: 200 });
    const after = await fingerprints(db);
    expect([after.get('2024-03-04'), after.get('2024-03-05')]).toMatchObject([NEW, NEW]);
    for (const key of ['2024-03-03', '2024-03-06']) expect(after.get(key)).toEqual(before.get(key));
    expect((await outcome()).rowsAfter).toBe(100);
  });

  test('rows of code do the same', async () => {
    const { db } = harness;
    await db.query('drop table fact_20240305');
    await fromCode(
      async function* ({ key }) {
        for (let id = 1n; id <= 100n; id++) yield { day: key, id, amount: '2.00' };
      },
      { strategy },
    );
    expect(await outcome({ ...day, to: '2024-03-05' })).toMatchObject({ partitions: 2, rowsAfter: 200 });
    const after = await fingerprints(db);
    expect([after.get('2024-03-04'), after.get('2024-03-05')]).toMatchObject([NEW, NEW]);
  });

  test('a row of another day fails the day, which stays as it was', async () => {
    const before = await fingerprints(harness.db);
    await fromCode(
      () => [
        { day: '2024-03-04', id: 1, amount: 1 },
        { day: '2024-03-05', id: 2, amount: 1 },
      ],
      { strategy },
    );
    await expect(outcome()).rejects.toMatchObject({
      failure: { type: 'StrayRows', message: expect.stringContaining('1 rows'), sample: ['2024-03-05'] },
    });
    expect(await fingerprints(harness.db)).toEqual(before);
  });

  test('no rows fail the day before anything is deleted', async () => {
    await fromCode(() => [], { strategy });
    await expect(outcome()).rejects.toMatchObject({
      failure: { type: 'EmptyBuild', message: expect.stringContaining('the 100 old rows stay') },
    });
  });
});

test('every digit and character comes over', async () => {
  const { db } = harness;
  const ddl = `create table fact (day date, n numeric, f float8, big bigint, t text, b bytea, j jsonb, a text[], i interval, at timestamptz)`;
  await db.query(`drop table fact; ${ddl}`);
  await orders.query(ddl);
  await orders.query(`insert into fact values ('2024-03-04', 1234567890123456789012345678901234567890.12345678901234567890, 0.1::float8 + 0.2, 9007199254740993,
    E'a\\tb\\nc\\\\d\\re"\\u00e9\\U0001F600', '\\x00ff0a', '{"a": "x\\ny"}', array['a,b', 'NULL', null, '"', E'\\\\'], '1 mon -2 days 03:04:05.678901', '2024-03-04 12:34:56.789012+00'),
    ('2024-03-04', 'NaN', '-0', null, '', '', 'null', '{}', null, 'infinity'), ('2024-03-04', '-Infinity', 'NaN', 1, '\\N', null, null, null, null, null)`);
  await orders.query(`alter database "${new URL(orders.url).pathname.slice(1)}" set datestyle = 'German'`);
  await withTable({ source: 'orders-db', build: ({ startDate }) => sql`select * from fact where day = ${startDate}` });
  await outcome();
  const read = (from: TestDatabase) => from.query(`select fact::text as row from fact order by 1`);
  await orders.query(`set datestyle = 'ISO'`);
  const [here, there] = [await read(db), await orders.query(`set datestyle = ISO`).then(() => read(orders))];
  expect(here.rows).toHaveLength(3);
  expect(here.rows).toEqual(there.rows);
});

test('values of code become what the column means, and what would lose something is refused', async () => {
  const { db } = harness;
  await db.query(`drop table fact;
    create table fact (day date, big bigint, n numeric, at timestamptz, b bytea, j jsonb, a int[], t text, made int generated always as (1) stored, own int default 7)`);
  const at = new Date('2024-03-04T10:00:00.123Z');
  await fromCode(() => [
    {
      day: '2024-03-04',
      big: 2n ** 62n,
      n: 1.5,
      at,
      b: Uint8Array.of(0, 255),
      j: { a: [1, null] },
      a: [1, null, 3],
      t: 'x\\\ty\n',
    },
    { day: '2024-03-04', big: null, n: NaN, at: null, b: null, j: 'null', a: [], t: null },
  ]);
  await outcome();
  const { rows } = await db.query(
    `select big::text, n::text, at::text, b::text, j::text, a::text, t, made, own from fact order by big`,
  );
  expect(rows).toEqual([
    {
      big: '4611686018427387904',
      n: '1.5',
      at: '2024-03-04 10:00:00.123+00',
      b: '\\x00ff',
      j: '{"a": [1, null]}',
      a: '{1,NULL,3}',
      t: 'x\\\ty\n',
      made: 1,
      own: 7,
    },
    { big: null, n: 'NaN', at: null, b: null, j: 'null', a: '{}', t: null, made: 1, own: 7 },
  ]);
  const good = { day: '2024-03-04', big: 1, n: 1, at: null, b: null, j: null, a: null, t: null };
  const wrong: readonly (readonly [object, string])[] = [
    [
      { ...good, big: 2 ** 60 },
      'big is 1152921504606847000, a whole number that JavaScript rounds; give a bigint, or text',
    ],
    [{ ...good, day: new Date() }, 'day is a Date, and a column of type date; give text, such as "2026-03-01"'],
    [{ ...good, at: new Date(NaN) }, 'at is an invalid Date'],
    [{ ...good, t: { a: 1 } }, 't is an object, and a column of type text; give its text'],
    [{ ...good, t: undefined }, 't is missing; give null where there is no value'],
    [{ ...good, x: 1 }, 'x is no column that the rows have'],
  ];
  for (const [row, message] of wrong) {
    await fromCode(() => [good, row]);
    await expect(outcome()).rejects.toMatchObject({
      failure: { type: 'CodeFailed', message: `2024-03-04, row 2: ${message}` },
    });
  }
});

test('a schema of zod looks at each row, and says which fields there are', async () => {
  const row = z.object({ day: z.string(), id: z.int(), amount: z.coerce.string() });
  await fromCode(() => [{ day: '2024-03-04', id: 1, amount: 2, more: true }], { row });
  expect(await outcome()).toMatchObject({ rowsAfter: 1 });
  await fromCode(() => [{ day: '2024-03-04', id: 'x', amount: 2 }], { row });
  await expect(outcome()).rejects.toMatchObject({
    failure: { type: 'CodeFailed', message: expect.stringMatching(/^2024-03-04, row 1: id: /) },
  });
});

test('code that fails for a time is tried again; the day is written once', async () => {
  let calls = 0;
  await fromCode(async function* ({ key }) {
    yield { day: key, id: 1, amount: 1 };
    if (calls++ === 0) throw new Error('503 of the service');
    yield { day: key, id: 2, amount: 1 };
  });
  expect(await outcome()).toMatchObject({ rowsAfter: 2 });
  expect(calls).toBe(2);
});

test('a source that fails midway, or sends what the column does not take, leaves the day and the sessions as they were', async () => {
  const { db } = harness;
  const before = await fingerprints(db);
  const divided: TableInput['build'] = ({ startDate }) =>
    sql`select day, id, amount / (id - 90) as amount from src where day = ${startDate} order by id`;
  await withTable({ source: 'orders-db', build: divided });
  await expect(outcome()).rejects.toMatchObject({
    failure: { type: 'SqlFailed', sqlstate: '22012', message: 'Source orders-db: division by zero (SQLSTATE 22012)' },
  });
  await withTable({
    source: 'orders-db',
    build: ({ startDate }) => sql`select day, 'x' || id as id, amount from src where day = ${startDate}`,
  });
  await expect(outcome()).rejects.toMatchObject({ failure: { type: 'SqlFailed', sqlstate: '22P02' } });
  expect(await fingerprints(db)).toEqual(before);
  await withTable({ source: 'orders-db' });
  await outcome();
  expect((await fingerprints(db)).get('2024-03-04')).toMatchObject(NEW);
});

test('a cancel reaches the source and the code, and nothing goes on', async () => {
  const { db } = harness;
  await withTable({
    source: 'orders-db',
    build: ({ startDate }) => sql`select day, id, amount from src, pg_sleep(600) where day = ${startDate}`,
  });
  const run = await harness.client.start(day);
  const sessions = async (of: TestDatabase) =>
    (
      await of.query(
        `select from pg_stat_activity where application_name like 'bf:%' and state <> 'idle' and datname = current_database()`,
      )
    ).rowCount;
  while ((await sessions(orders)) === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  await run.cancel();
  await expect(run.result()).rejects.toMatchObject({ name: 'RunCancelled' });
  expect([await sessions(orders), await sessions(db)]).toEqual([0, 0]);

  let ended = false;
  let begun = (): void => {};
  const running = new Promise<void>((resolve) => (begun = resolve));
  await fromCode(async function* ({ key }, signal) {
    try {
      yield { day: key, id: 1, amount: 1 };
      begun();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    } finally {
      ended = true;
    }
  });
  const coded = await harness.client.start(day);
  await running;
  await coded.cancel();
  await expect(coded.result()).rejects.toMatchObject({ name: 'RunCancelled' });
  expect([ended, await sessions(db)]).toEqual([true, 0]);
});

test('what the build reads in its source decides what is outdated, and a source that is away is told in the list of tables', async () => {
  const { client } = harness;
  await orders.query(`create or replace view fresh as select * from src`);
  const build: TableInput['build'] = ({ startDate }) => sql`select day, id, amount from fresh where day = ${startDate}`;
  await withTable({ source: 'orders-db', build });
  await outcome();
  expect((await client.plan({ ...day, select: 'outdated' })).counts).toMatchObject({ replace: 0, leave: 1 });
  await orders
    .query(`create or replace view fresh as select day, id, amount + 0 as amount from src`)
    .catch(async () => {
      await orders.query(`drop view fresh; create view fresh as select day, id, amount + 0 as amount from src`);
    });
  expect((await client.plan({ ...day, select: 'outdated' })).counts).toMatchObject({ replace: 1 });
  const url = new URL(orders.url);
  url.port = '1';
  await harness.restartWorker({
    tables: [factTable({ source: 'orders-db', build })],
    sources: { 'orders-db': url.href },
  });
  const { tables } = await client.readTables();
  expect(tables[0]?.problem).toContain('Source orders-db: PostgreSQL cannot be reached');
});

test.each([
  ['two statements', sql`select day, id, amount from src; delete from src`],
  ['a statement that writes', sql`delete from src returning day, id, amount`],
  ['a part that writes', sql`with gone as (delete from src returning *) select day, id, amount from gone`],
  [
    'brackets that end early',
    sql`select day, id, amount from src) as x union all select day, id, amount from (select * from src`,
  ],
  ['a comment that does not end', sql`select day, id, amount from src /* `],
  ['a query into a table', sql`select day, id, amount into other from src`],
])('a build of %s is refused in the plan, here and in a source', async (_, build) => {
  const { db, client } = harness;
  await db.query('create table src (like fact)');
  for (const source of [{}, { source: 'orders-db' }]) {
    await withTable({ ...source, build: () => build });
    expect((await client.plan(day)).refusals).toEqual([expect.stringMatching(/^The build cannot run: /)]);
  }
  expect((await orders.query('select from src')).rowCount).toBe(1000);
});

test('code that waits for nothing and never ends lets the worker work: a cancel gets through', async () => {
  let rows = 0;
  await fromCode(function* ({ key }) {
    for (;;) yield { day: key, id: ++rows, amount: 1 };
  });
  const run = await harness.client.start(day);
  while (rows < 10_000) await new Promise((resolve) => setTimeout(resolve, 50));
  await run.cancel();
  await expect(run.result()).rejects.toMatchObject({ name: 'RunCancelled' });
  const { events } = await harness.temporal.workflow.getHandle(run.workflowId).fetchHistory();
  const attempts = (events ?? []).map((event) => event.activityTaskStartedEventAttributes?.attempt ?? 0);
  // No heartbeat was missed.
  expect(Math.max(...attempts)).toBe(1);
});
