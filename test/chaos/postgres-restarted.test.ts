import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PostgresServer } from '../../src/dev/postgres-server.js';
import { changedDays } from '../support/changed-days.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { lastAttempt, terminateOpenRuns } from '../support/history.js';
import { replacements } from '../support/ledger.js';
import { type ServerFolder, createOwnDatabase, createServerFolder, startOwnPostgres } from '../support/own-servers.js';
import { untilAtGate } from '../support/sessions.js';

let folder: ServerFolder;
let postgres: PostgresServer;
let harness: Harness;
beforeAll(async () => {
  folder = await createServerFolder();
  postgres = await startOwnPostgres(folder);
  harness = await createHarness(GATED_FACT, { tables: [gatedFact()] }, { db: await createOwnDatabase(postgres) });
});
beforeEach(() => resetFact(harness.db));
afterEach(() => terminateOpenRuns(harness.temporal));
afterAll(async () => {
  await harness.close();
  await postgres.stop();
  folder.remove();
});

test.each([
  { how: 'stopped and started again', stop: () => postgres.stop() },
  { how: 'killed (recovers from its log)', stop: () => postgres.kill() },
])('PostgreSQL $how while day five is written: the run goes on by itself', async ({ stop }) => {
  const { db, client, temporal } = harness;
  await closeGate(db, '2024-03-05');
  const run = await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-10' });
  const struck = await untilAtGate(db, '2024-03-05');
  const before = await fingerprints(db);
  const { pid, port } = postgres;

  await stop();
  postgres = await startOwnPostgres(folder);
  expect(postgres.port).toBe(port);
  expect(postgres.pid).not.toBe(pid);
  expect(changedDays(before, await fingerprints(db))).toEqual([]);
  await untilAtGate(db, '2024-03-05');
  await openGate(db, '2024-03-05');

  expect(await run.result()).toMatchObject({ planId: struck.planId, partitions: 10, rowsAfter: 1000 });
  const after = await fingerprints(db);
  expect(changedDays(before, after)).toEqual(march(5, 10));
  for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);
  expect((await replacements(db, struck.planId)).map(({ key }) => key)).toEqual(march(1, 10));
  expect((await lastAttempt(temporal, run.workflowId, '2024-03-05'))?.attempt).toBeGreaterThan(1);
});
