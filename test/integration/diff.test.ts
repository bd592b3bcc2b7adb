import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { FACT, NEW, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';

const diffed = (changes: Partial<TableInput> = {}) => factTable({ strategy: 'diff', ...changes });
const day = { table: 'fact', from: '2024-03-04', to: '2024-03-04' };

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness('', { tables: [diffed()] });
});
beforeEach(() => harness.db.query(`drop table if exists fact, src, note cascade; ${FACT}`));
afterAll(() => harness.close());

async function versions(where: string): Promise<string[]> {
  const { rows } = await harness.db.query<{ version: string }>(
    `select id || ' ' || xmin as version from fact where day = '2024-03-04' and ${where} order by id`,
  );
  return rows.map(({ version }) => version);
}

test('rows that the build gives as they are stay the same row versions; the figures tell the others apart', async () => {
  const { db, client } = harness;
  await db.query(`
    update src set amount = 1 where day = '2024-03-04' and id > 10;
    delete from src where day = '2024-03-04' and id between 91 and 95;
    insert into src select '2024-03-04', id, 5 from generate_series(101, 107) id`);
  const before = await versions('id between 11 and 90');
  const result = await (await client.start(day)).result();
  const changes = { added: 7, removed: 5, changed: 10, unchanged: 85 };
  expect(result).toMatchObject({ rowsBefore: 100, rowsAfter: 102, changes: { partitions: 1, ...changes } });
  expect(await versions('id between 11 and 90')).toEqual(before);
  const rows = await db.query(`select * from fact where day = '2024-03-04' except all select * from src`);
  expect(rows.rowCount).toBe(0);
  const { entries } = await client.readHistory('fact');
  expect(entries[0]).toMatchObject({ rowsBefore: 100, rowsAfter: 102, changes });
});

test('a run done twice changes nothing the second time, and every other day is untouched', async () => {
  const { db, client } = harness;
  const untouched = await fingerprints(db);
  await (await client.start(day)).result();
  const once = await fingerprints(db);
  expect(once.get('2024-03-04')).toMatchObject(NEW);
  for (const key of march(1, 10).filter((other) => other !== day.from))
    expect(once.get(key)).toEqual(untouched.get(key));
  const again = await (await client.start(day)).result();
  expect(again.changes).toEqual({ partitions: 1, added: 0, removed: 0, changed: 0, unchanged: 100 });
  expect(await fingerprints(db)).toEqual(once);
});

test('bits are compared, not values: 1.0 becomes 1.00', async () => {
  const { db, client } = harness;
  await db.query(`
    drop table fact; create table fact (day date, id bigint, amount numeric, doc json, primary key (day, id));
    insert into fact values ('2024-03-04', 1, 1.0, '{"a":1}'), ('2024-03-04', 2, 1.00, '{"a":1}'), ('2024-03-04', 3, 1.00, '{"a": 1}')`);
  const build = () =>
    sql`select date '2024-03-04' as day, id, 1.00 as amount, json '{"a":1}' as doc from generate_series(1, 3) id`;
  await harness.restartWorker({ tables: [diffed({ build })] });
  const result = await (await client.start(day)).result();
  expect(result.changes).toMatchObject({ changed: 2, unchanged: 1 });
  const { rows } = await db.query(`select distinct amount::text, doc::text from fact`);
  expect(rows).toEqual([{ amount: '1.00', doc: '{"a":1}' }]);
  await harness.restartWorker({ tables: [diffed()] });
});

test('rows to which another table refers stay; one that the build no longer gives fails the day, and nothing is lost', async () => {
  const { db, client } = harness;
  await db.query(`
    create table note (day date, id bigint, foreign key (day, id) references fact);
    insert into note values ('2024-03-04', 7)`);
  await (await client.start(day)).result();
  expect((await fingerprints(db)).get('2024-03-04')).toMatchObject(NEW);
  await db.query(`delete from src where day = '2024-03-04' and id = 7`);
  const before = await fingerprints(db);
  await expect((await client.start(day)).result()).rejects.toMatchObject({
    failure: { type: 'SqlFailed', sqlstate: '23503', message: expect.stringContaining('note_day_id_fkey') },
  });
  expect(await fingerprints(db)).toEqual(before);
});

test.each(['cascade', 'set null'])('a reference with "on delete %s" is refused in the plan', async (effect) => {
  const { db, client } = harness;
  await db.query(`create table note (day date, id bigint, foreign key (day, id) references fact on delete ${effect})`);
  const { refusals, strategy } = await client.plan(day);
  expect({ strategy, refusals }).toEqual({
    strategy: 'diff',
    refusals: [expect.stringContaining(`with "on delete ${effect}" (foreign key note_day_id_fkey)`)],
  });
});

test('a table without a key is refused, and a key given twice by the build fails the day', async () => {
  const { db, client } = harness;
  await db.query(`insert into src values ('2024-03-04', 1, 9)`);
  const before = await fingerprints(db);
  await expect((await client.start(day)).result()).rejects.toMatchObject({
    failure: { type: 'SqlFailed', sqlstate: '23505', message: expect.stringContaining('fact_pkey') },
  });
  expect(await fingerprints(db)).toEqual(before);
  await db.query('alter table fact drop constraint fact_pkey');
  expect((await client.plan(day)).refusals).toEqual([expect.stringContaining('has no unique key')]);
});

test('auto compares first, writes everything where most rows had changed, and says why', async () => {
  const { db, client } = harness;
  await harness.restartWorker({ tables: [diffed({ strategy: 'auto' })] });
  // The comparisons of the tests before.
  await db.query(`update backfill.replacement set strategy = 'delete-insert'`);
  const strategy = async () => {
    const plan = await client.plan({ ...day, to: '2024-03-05' });
    return `${plan.strategy}: ${plan.strategyWhy}`;
  };
  expect(await strategy()).toBe('diff: nothing is known yet of how many rows change');
  await (await client.start(day)).result();
  expect(await strategy()).toBe('delete-insert: 100 % of the rows compared lately had changed');
  await db.query(`create table note (day date, id bigint, foreign key (day, id) references fact)`);
  expect(await strategy()).toBe('diff: other tables refer to its rows');
  await db.query('drop table note; alter table fact drop constraint fact_pkey');
  expect(await strategy()).toBe('delete-insert: the table has no key by which rows could be compared');
  await harness.restartWorker({ tables: [diffed()] });
});
