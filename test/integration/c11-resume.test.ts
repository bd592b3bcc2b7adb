import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackfillHandle } from '../../src/client/backfill-handle.js';
import { changedDays } from '../support/changed-days.js';
import { NEW, OLD, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, buildCounts, gatedFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { scheduledKeys } from '../support/history.js';
import { replacedKeys } from '../support/ledger.js';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(GATED_FACT, { tables: [gatedFact()] });
});
afterAll(() => harness.close());

test('C11 each resume begins at the failed day, and finished days are not done again', async () => {
  const { db, client, temporal } = harness;
  await db.query(`insert into src values ('2024-03-06', 1, 9)`);
  const run = await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-10' });
  const planId = await failsOnTheSixth(run);
  const done = await fingerprints(db);
  expect(await replacedKeys(db, planId)).toEqual(march(1, 5));
  // Rows are there in all ten: a day counts as done because its replacement is recorded.
  for (const day of march(6, 10)) expect(done.get(day)).toMatchObject(OLD);

  for (const time of ['once', 'twice']) {
    const again = await run.retry();
    expect(await failsOnTheSixth(again)).toBe(planId);
    expect(await scheduledKeys(temporal, run.workflowId)).toEqual(['2024-03-06']);
    expect(changedDays(done, await fingerprints(db)), `resumed ${time}`).toEqual([]);
  }

  await db.query(`delete from src where day = '2024-03-06' and amount = 9`);
  const last = await run.retry();
  expect(await last.result()).toMatchObject({ planId, partitions: 10, rowsBefore: 1000, rowsAfter: 1000 });
  expect(await scheduledKeys(temporal, run.workflowId)).toEqual(march(6, 10));
  const after = await fingerprints(db);
  expect(changedDays(done, after)).toEqual(march(6, 10));
  for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);
  expect(await replacedKeys(db, planId)).toEqual(march(1, 10));
  expect(await buildCounts(db)).toEqual({
    ...Object.fromEntries(march(1, 10).map((key) => [key, 1])),
    '2024-03-06': 4,
  });
});

/** @returns the plan id */
async function failsOnTheSixth(run: BackfillHandle): Promise<string> {
  const error: unknown = await run.result().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'PartitionFailed', key: '2024-03-06', done: 5, failed: 1, total: 10 });
  return (error as { planId: string }).planId;
}
