import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { defineTable, sql } from '../../src/config/define.js';
import { march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { scheduledKeys } from '../support/history.js';
import { replacements } from '../support/ledger.js';

/** Each day depends on the day before. The fourth divides by what the table `divisor` holds. */
const SCHEMA = `
create table bal (day date not null, total int not null) partition by range (day);
create table divisor (n int not null);`;

const balances = defineTable({
  name: 'bal',
  partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
  cumulative: true,
  build: ({ startDate }) => sql`
    select ${startDate} as day, coalesce((select total from bal where day = ${startDate} - 1), 0)
           + case when ${startDate} = date '2024-03-04' then 1 / (select n from divisor) else 1 end as total`,
});

const request = { table: 'bal', from: '2024-03-01', to: '2024-03-10' };

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(SCHEMA, { tables: [balances] });
});
beforeEach(() => harness.db.query('drop table divisor, bal').then(() => harness.db.query(SCHEMA)));
afterAll(() => harness.close());

test('C13 each day starts after the one before it has committed', async () => {
  const { db, client } = harness;
  await db.query('insert into divisor values (1)');
  const run = await client.start(request);
  const { planId } = await run.result();
  expect(await totals()).toEqual(march(1, 10).map((day, i) => ({ day, total: i + 1 })));
  const rows = await replacements(db, planId);
  expect(rows.map(({ key }) => key)).toEqual(march(1, 10));
  const times = rows.flatMap(({ started, committed }) => [started, committed]).map((time) => Date.parse(time));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test('C13 when the fourth fails, the fifth and later have not started', async () => {
  const { db, client, temporal } = harness;
  await db.query('insert into divisor values (0)');
  const run = await client.start(request);
  await expect(run.result()).rejects.toMatchObject({ name: 'PartitionFailed', key: '2024-03-04', done: 3, failed: 1 });
  expect(await scheduledKeys(temporal, run.workflowId)).toEqual(march(1, 4));
  expect(await totals()).toEqual(march(1, 3).map((day, i) => ({ day, total: i + 1 })));
  // A failure leaves nothing of the partition that it was making.
  const { rows } = await db.query(`select from pg_inherits where inhparent = 'bal'::regclass`);
  expect(rows).toHaveLength(3);

  await db.query('update divisor set n = 1');
  await (await run.retry()).result();
  expect(await totals()).toEqual(march(1, 10).map((day, i) => ({ day, total: i + 1 })));
});

test('C13 a cumulative table with a limit above 1 is refused', async () => {
  const run = await harness.client.start({ ...request, concurrency: 2, publish: 'any-order' });
  await expect(run.result()).rejects.toMatchObject({
    name: 'BackfillRefused',
    type: 'InvalidRequest',
    message: expect.stringContaining('one at a time'),
  });
});

async function totals(): Promise<object[]> {
  const { rows } = await harness.db.query<object>('select day, total from bal order by day');
  return rows;
}
