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

const cuts = [
  { from: '2024-03-05', to: '2024-03-06', select: 'all' },
  { from: '2024-03-05', to: '2024-03-06', select: 'missing' },
  { from: '2024-03-01', to: '2024-03-04', select: 'all' },
  { from: '2024-03-01', to: '2024-03-10', select: 'missing' },
] as const;

test.each(cuts)('C27 $from to $to ($select) is not widened to a larger partition', async (range) => {
  await harness.db.query(`drop table fact_20240304; drop table fact_20240305; drop table fact_20240306;
    create table fact_larger partition of fact for values from ('2024-03-04') to ('2024-03-07');
    insert into fact select '2024-03-05', i, 1 from generate_series(1, 100) i`);
  const before = await look();
  const plan = await harness.client.plan({ table: 'fact', ...range });
  const refusal = expect.stringMatching(
    /^public\.fact_larger holds \[2024-03-04, 2024-03-07\), and 2024-03-0\d is \[/,
  ) as string;
  expect(plan.refusals).toEqual([refusal]);
  await expect(run({ table: 'fact', ...range })).rejects.toMatchObject({ type: 'InvalidRequest', message: refusal });
  expect(await look()).toEqual(before);
});
