import { afterAll, beforeAll, expect, test } from 'vitest';
import { FACT, NEW, OLD, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

const AFTERNOON = () => new Date('2024-03-10T15:00:00Z');
const NEXT_DAY = () => new Date('2024-03-11T09:00:00Z');
const TODAY = { table: 'fact', from: '2024-03-10', to: '2024-03-10' };

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(`${FACT} delete from src where day = '2024-03-10' and id > 60;`, {
    tables: [factTable()],
    now: AFTERNOON,
  });
});
afterAll(() => harness.close());

test('C04 future days and the unfinished one are left out, as the plan says plainly', async () => {
  const before = await fingerprints(harness.db);
  const range = { table: 'fact', from: '2024-03-08', to: '2024-03-12' };
  const plan = await harness.client.plan(range);
  expect(plan.partitions.map(({ key }) => key)).toEqual(march(8, 9));
  expect(plan.leftAlone).toEqual([
    { key: '2024-03-10', why: expect.stringContaining('has not ended yet') },
    { key: '2024-03-11', why: 'in the future' },
    { key: '2024-03-12', why: 'in the future' },
  ]);
  await expect((await harness.client.start({ plan: plan.planId })).result()).resolves.toMatchObject({ partitions: 2 });

  const after = await fingerprints(harness.db);
  for (const day of march(8, 9)) expect(after.get(day)).toMatchObject(NEW);
  expect(after.get('2024-03-10')).toEqual(before.get('2024-03-10'));
  expect(await recorded()).toEqual(march(8, 9));
  const { rows } = await harness.db.query(
    `select count(*)::int as leaves from pg_inherits where inhparent = 'fact'::regclass`,
  );
  expect(rows).toEqual([{ leaves: 10 }]);
});

test('C04 the current day is refused unless it is allowed', async () => {
  const run = await harness.client.start(TODAY);
  await expect(run.result()).rejects.toMatchObject({
    type: 'InvalidRequest',
    message: expect.stringContaining('2024-03-10 has not ended yet; set allowIncomplete'),
  });
  expect((await fingerprints(harness.db)).get('2024-03-10')).toMatchObject(OLD);
});

test('C04 allowed, it is provisional, and done again the next day instead of being skipped', async () => {
  const plan = await harness.client.plan({ ...TODAY, allowIncomplete: true });
  expect(plan.warnings.join('\n')).toContain('provisional: 2024-03-10');
  await (await harness.client.start({ plan: plan.planId })).result();
  expect((await fingerprints(harness.db)).get('2024-03-10')).toMatchObject({ rows: 60, sum: '120.00' });
  expect(await provisional()).toEqual(['2024-03-10']);

  await harness.db.query(`insert into src select '2024-03-10', i, 2.00 from generate_series(61, 100) i`);
  await harness.restartWorker({ tables: [factTable()], now: NEXT_DAY });
  // Same build, and written: only because it was provisional is it done again.
  const again = await harness.client.start({ ...TODAY, select: 'outdated' });
  await expect(again.result()).resolves.toMatchObject({ partitions: 1, rowsBefore: 60, rowsAfter: 100 });
  expect((await fingerprints(harness.db)).get('2024-03-10')).toMatchObject(NEW);
  expect(await provisional()).toEqual([]);
});

async function recorded(): Promise<string[]> {
  const { rows } = await harness.db.query<{ key: string }>(
    'select key from backfill.partition where generation > 0 order by key',
  );
  return rows.map(({ key }) => key);
}

async function provisional(): Promise<string[]> {
  const { rows } = await harness.db.query<{ key: string }>('select key from backfill.partition where provisional');
  return rows.map(({ key }) => key);
}
