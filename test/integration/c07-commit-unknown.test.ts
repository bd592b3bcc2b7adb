import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, buildCounts, gatedFact, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { lastAttempt } from '../support/history.js';
import { replacements } from '../support/ledger.js';
import { type CommitCutter, startCommitCutter } from '../support/tcp-proxy.js';

const day = '2024-03-04';

let db: TestDatabase;
let cutter: CommitCutter;
let harness: Harness;
beforeAll(async () => {
  db = await createDatabase();
  cutter = await startCommitCutter(db.url);
  harness = await createHarness(GATED_FACT, { tables: [gatedFact()] }, { db, workerDatabaseUrl: cutter.url });
});
beforeEach(async () => {
  await resetFact(db);
  // With it, rows written twice would be refused instead of seen.
  await db.query('alter table fact drop constraint fact_pkey');
});
afterAll(async () => {
  await harness.close();
  await cutter.close();
});

test.each([
  { where: 'after', lost: 'its answer was lost', writtenBy: 1 },
  { where: 'before', lost: 'it was lost itself', writtenBy: 2 },
] as const)('C07 the commit was sent and $lost: the day is written once', async ({ where, writtenBy }) => {
  const { client, temporal } = harness;
  const before = await fingerprints(db);
  const cuts = cutter.cuts;
  cutter.cutNext(where);
  const run = await client.start({ table: 'fact', from: day, to: day });
  const { planId } = await run.result();

  expect(cutter.cuts).toBe(cuts + 1);
  const after = await fingerprints(db);
  expect(after.get(day)).toMatchObject(NEW);
  expect(changedDays(before, after)).toEqual([day]);
  expect(await lastAttempt(temporal, run.workflowId, day)).toEqual({
    attempt: 2,
    lastFailure: 'The connection was lost while committing; the ledger will tell',
  });
  const rows = await replacements(db, planId);
  expect(rows.map(({ key, attempt }) => ({ key, attempt }))).toEqual([{ key: day, attempt: writtenBy }]);
  // Found in the ledger, the first attempt's work was not done again.
  expect(await buildCounts(db)).toMatchObject({ [day]: writtenBy });
});

test('C07 a whole finished backfill, done again, leaves 100 rows a day', async () => {
  const { client } = harness;
  const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };
  const first = await (await client.start(request)).result();
  const second = await (await client.start(request)).result();
  expect(second.planId).not.toBe(first.planId);
  const after = await fingerprints(db);
  expect([...after.keys()]).toEqual(march(1, 10));
  for (const found of after.values()) expect(found).toMatchObject(NEW);

  const again = await client.start({ plan: second.planId });
  await expect(again.result()).rejects.toMatchObject({ name: 'BackfillRefused', type: 'InvalidRequest' });
  expect(changedDays(after, await fingerprints(db))).toEqual([]);
});
