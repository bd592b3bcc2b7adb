import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BackfillRequest } from '../../src/domain/request.js';
import { changedDays } from '../support/changed-days.js';
import { FACT, NEW, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { leafFiles } from '../support/leaves.js';

const whole = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };

let harness: Harness;
beforeEach(async () => {
  harness = await createHarness(FACT, { tables: [factTable()] });
});
afterEach(() => harness.close());

async function run(request: BackfillRequest) {
  const handle = await harness.client.start(request);
  return handle.result();
}

async function look() {
  return { rows: await fingerprints(harness.db), files: await leafFiles(harness.db) };
}

test('C27 what was filled is not missing any more', async () => {
  await harness.db.query('drop table fact_20240304; drop table fact_20240305');
  const before = await look();
  expect(await run({ ...whole, select: 'missing' })).toMatchObject({ partitions: 2, rowsAfter: 200 });
  const filled = await look();
  expect(changedDays(before.rows, filled.rows)).toEqual(march(4, 5));

  const plan = await harness.client.plan({ ...whole, select: 'missing' });
  expect(plan).toMatchObject({ partitions: [], counts: { create: 0, replace: 0, leave: 10 }, refusals: [] });
  expect(await run({ ...whole, select: 'missing' })).toMatchObject({ partitions: 0, rowsAfter: 0 });
  expect(await look()).toEqual(filled);
});

test('C27 a partition that exists and is empty is listed apart, and filled only if asked', async () => {
  await harness.db.query('drop table fact_20240304; drop table fact_20240305; truncate fact_20240307');
  const missing = await harness.client.plan({ ...whole, select: 'missing' });
  expect(missing.partitions.map(({ key }) => key)).toEqual(march(4, 5));
  const why = 'exists and is empty; select "missing-or-empty" would write it';
  expect(missing.leftAlone.filter((left) => left.why !== 'exists')).toEqual([{ key: '2024-03-07', why }]);
  await run({ ...whole, select: 'missing' });
  const before = await look();
  expect(before.rows.has('2024-03-07')).toBe(false);

  const plan = await harness.client.plan({ ...whole, select: 'missing-or-empty' });
  expect(plan.partitions).toMatchObject([{ key: '2024-03-07', action: 'replace' }]);
  expect(await run({ ...whole, select: 'missing-or-empty' })).toMatchObject({ partitions: 1, rowsAfter: 100 });
  const after = await look();
  expect(changedDays(before.rows, after.rows)).toEqual(march(7, 7));
  expect(after.rows.get('2024-03-07')).toMatchObject(NEW);
  expect(after.files).toEqual(before.files);
});

const larger = `drop table fact_20240304; drop table fact_20240305; drop table fact_20240306;
  create table fact_larger partition of fact for values from ('2024-03-04') to ('2024-03-07');
  insert into fact select d::date, i, 1 from generate_series(date '2024-03-04', '2024-03-06', interval '1 day') d, generate_series(1, 100) i`;

const cuts = [
  { from: '2024-03-05', to: '2024-03-06', days: march(5, 6) },
  { from: '2024-03-01', to: '2024-03-04', days: march(1, 4) },
] as const;

test.each(cuts)('C27 $from to $to is not widened to a larger partition that it cuts', async ({ from, to, days }) => {
  await harness.db.query(larger);
  const before = await look();
  const plan = await harness.client.plan({ table: 'fact', from, to });
  expect(plan).toMatchObject({ refusals: [], counts: { create: 0, replace: days.length } });
  await run({ table: 'fact', from, to });
  const after = await look();
  expect(changedDays(before.rows, after.rows)).toEqual(days);
  expect(after.files).toEqual(before.files);
});

test('C27 a day that a larger partition holds is not missing', async () => {
  await harness.db.query(`${larger}; delete from fact where day = '2024-03-05'`);
  const before = await look();
  const plan = await harness.client.plan({ ...whole, select: 'missing' });
  expect(plan).toMatchObject({ partitions: [], refusals: [] });
  expect(plan.leftAlone.filter(({ why }) => why !== 'exists')).toMatchObject([{ key: '2024-03-05' }]);
  expect(await run({ ...whole, select: 'missing-or-empty' })).toMatchObject({ partitions: 1 });
  const after = await look();
  expect(changedDays(before.rows, after.rows)).toEqual(march(5, 5));
  expect(after.rows.get('2024-03-05')).toMatchObject(NEW);
});

test('C27 a range that cuts into a partition of the grain is refused, and widened only if asked', async () => {
  await harness.restartWorker({
    tables: [factTable({ partitionBy: { column: 'day', grain: 'week', timeZone: 'UTC' } })],
  });
  const before = await look();
  const request = { table: 'fact', from: '2024-03-05', to: '2024-03-10' };
  const message = expect.stringContaining(
    '2024-03-05 begins within 2024-W10, which is [2024-03-04, 2024-03-11)',
  ) as string;
  await expect(harness.client.plan(request)).rejects.toMatchObject({ type: 'InvalidRequest', message });
  await expect(run(request)).rejects.toMatchObject({ type: 'InvalidRequest', message });
  expect(await look()).toEqual(before);

  const widened = await harness.client.plan({ ...request, widen: true });
  expect(widened).toMatchObject({
    from: '2024-W10',
    to: '2024-W10',
    warnings: ['2024-03-05 to 2024-03-10 widened to 2024-W10 to 2024-W10'],
  });
  expect(widened.partitions).toMatchObject([{ key: '2024-W10', action: 'replace' }]);
  // Days hold the week, all but its last.
  await harness.db.query('drop table fact_20240310');
  const partly = await harness.client.plan({ ...request, widen: true });
  expect(partly.refusals).toEqual([
    '2024-W10, week, has partitions of public.fact for a part only: nothing holds [2024-03-10, 2024-03-11); create that first',
  ]);
});
