import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { TemporalServer } from '../../src/dev/temporal-server.js';
import { changedDays } from '../support/changed-days.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, closeGate, openGate } from '../support/gate.js';
import { gatedWorkers } from '../support/gated-worker.js';
import { type Harness, createHarness } from '../support/harness.js';
import { scheduledKeys } from '../support/history.js';
import { replacements, runState } from '../support/ledger.js';
import { type ServerFolder, createServerFolder, startOwnTemporal } from '../support/own-servers.js';
import { untilAtGate } from '../support/sessions.js';

let folder: ServerFolder;
let temporal: TemporalServer;
let harness: Harness;
const workers = gatedWorkers(() => harness);
beforeAll(async () => {
  folder = await createServerFolder();
  temporal = await startOwnTemporal(folder, inject('temporalCli'));
  harness = await createHarness(GATED_FACT, null, { temporalAddress: temporal.address });
});
afterAll(async () => {
  await workers.endAll();
  await harness.close();
  await temporal.stop();
  folder.remove();
});

test('the Temporal server killed while day nine is written: the run goes on, and nothing is written twice', async () => {
  const { db, client } = harness;
  const worker = await workers.start();
  await closeGate(db, '2024-03-09');
  const run = await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-10' });
  const { runId } = await run.describe();
  const { planId } = await untilAtGate(db, '2024-03-09');
  const atKill = await fingerprints(db);

  const killed = temporal;
  await killed.kill();
  temporal = await startOwnTemporal(folder, inject('temporalCli'));
  expect(temporal.pid).not.toBe(killed.pid);
  expect(temporal.address).toBe(killed.address);
  await openGate(db, '2024-03-09');

  expect(await run.result()).toMatchObject({ planId, partitions: 10, rowsAfter: 1000 });
  expect((await run.describe()).runId).toBe(runId);
  const after = await fingerprints(db);
  expect(changedDays(atKill, after)).toEqual(march(9, 10));
  for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);
  expect((await replacements(db, planId)).map(({ key }) => key)).toEqual(march(1, 10));
  expect(await scheduledKeys(harness.temporal, run.workflowId)).toEqual(march(1, 10));
  expect(await runState(db, planId)).toBe('completed');
  // The worker has lived through it.
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe('code 0');
});
