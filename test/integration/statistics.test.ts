import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { until } from '../support/wait.js';

let harness: Harness;
let db: TestDatabase;
let canAlone: boolean;
beforeAll(async () => {
  harness = await createHarness(FACT, { tables: [factTable()] });
  ({ db } = harness);
  const { rows } = await db.query<{ n: number }>(`select current_setting('server_version_num')::int as n`);
  canAlone = (rows[0]?.n ?? 0) >= 180_000;
});
afterAll(() => harness.close());

/** How often each was analyzed by hand; the server counts a moment later. */
async function analyses(): Promise<Record<string, number>> {
  const { rows } = await db.query<{ name: string; n: number }>(
    `select relname as name, analyze_count::int as n from pg_stat_all_tables where relname like 'fact%' order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

let before: Record<string, number>;
beforeEach(async () => {
  await db.query('select pg_stat_force_next_flush()');
  before = await analyses();
});

/** The tables that were analyzed since. */
async function analyzed(): Promise<string[]> {
  const now = await analyses();
  return Object.keys(now).filter((name) => (now[name] ?? 0) > (before[name] ?? 0));
}

test('of a table with many days, those that were replaced are analyzed, and the table over all of them where it can be alone', async () => {
  const run = await harness.client.start({ table: 'fact', from: '2024-03-02', to: '2024-03-03' });
  await run.result();
  const expected = [...(canAlone ? ['fact'] : []), 'fact_20240302', 'fact_20240303'];
  await until('the statistics', async () => (await analyzed()).length >= expected.length);
  expect(await analyzed()).toEqual(expected);
});

test('days that were created have been analyzed: the others are left alone', async () => {
  await db.query(`insert into src select date '2024-03-11', i, 2 from generate_series(1, 100) i`);
  const run = await harness.client.start({ table: 'fact', from: '2024-03-11', to: '2024-03-11' });
  await run.result();
  const expected = [...(canAlone ? ['fact'] : []), 'fact_2024_03_11'];
  await until('the statistics', async () => (await analyzed()).length >= expected.length);
  expect((await analyzed()).filter((name) => !/^fact_2024_?03_?11$/.test(name))).toEqual(canAlone ? ['fact'] : []);
});

test('where most days were replaced, the table is analyzed whatever PostgreSQL it is', async () => {
  const run = await harness.client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-11' });
  await run.result();
  await until('the statistics', async () => (await analyzed()).length === 12);
  const { rows } = await db.query<{ known: string }>(
    `select most_common_vals::text as known from pg_stats where tablename = 'fact' and inherited and attname = 'amount'`,
  );
  expect(rows).toEqual([{ known: '{2.00}' }]);
});
