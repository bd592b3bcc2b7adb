import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeGate, GATED_FACT, gatedFact, openGate } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { statusOf } from '../support/history.js';
import { runState } from '../support/ledger.js';
import { untilAtGate } from '../support/sessions.js';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(GATED_FACT, { tables: [gatedFact()] });
});
afterAll(() => harness.close());

test('a row deleted behind the back of a run fails it, and the partition is named', async () => {
  const { db, client } = harness;
  await closeGate(db, '2024-03-05');
  const run = await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-05' });
  const { planId } = await untilAtGate(db, '2024-03-05');
  await db.query(`delete from fact where day = '2024-03-03' and id = 7`);
  await openGate(db, '2024-03-05');

  await expect(run.result()).rejects.toMatchObject({
    name: 'VerificationFailed',
    count: 1,
    differences: [{ key: '2024-03-03', rowsRecorded: 100, rowsFound: 99 }],
    message: expect.stringContaining('2024-03-03'),
  });
  expect(await statusOf(harness.temporal, run.workflowId)).toBe('FAILED');
  expect(await runState(db, planId)).toBe('failed');
});
