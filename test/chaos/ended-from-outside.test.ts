import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.js';
import { openDatabase } from '../../src/postgres/database.js';
import { replacePartition } from '../../src/postgres/replace.js';
import { changedDays } from '../support/changed-days.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { buildCounts, closeGate, gatedFact, openGate } from '../support/gate.js';
import { statusOf } from '../support/history.js';
import { replacedKeys, runState } from '../support/ledger.js';
import { hasSession, runSessions, untilAtGate } from '../support/sessions.js';
import { useGatedFact } from '../support/use-gated-fact.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };

const { harness } = useGatedFact([gatedFact()]);

test('a cancel stops the SQL before the run ends, and a new run of the range is taken up at once', async () => {
  const { db, client, temporal } = harness;
  await closeGate(db, '2024-03-05');
  const old = await fingerprints(db);
  const run = await client.start(request);
  const { planId } = await untilAtGate(db, '2024-03-05');

  await run.cancel();
  await expect(run.result()).rejects.toMatchObject({ name: 'RunCancelled' });
  expect(await runSessions(db)).toEqual([]);
  expect(await statusOf(temporal, run.workflowId)).toBe('CANCELLED');
  expect(await runState(db, planId)).toBe('cancelled');
  const between = await fingerprints(db);
  expect(changedDays(old, between)).toEqual(march(1, 4));
  expect(await replacedKeys(db, planId)).toEqual(march(1, 4));

  await openGate(db, '2024-03-05');
  const next = await client.start(request);
  const result = await next.result();
  expect(result).toMatchObject({ partitions: 10 });
  expect(result.planId).not.toBe(planId);
  expect(changedDays(between, await fingerprints(db))).toEqual(march(1, 10));
});

test('a cancelled run goes on under its plan where it was', async () => {
  const { db, client } = harness;
  await closeGate(db, '2024-03-05');
  const run = await client.start(request);
  const { planId } = await untilAtGate(db, '2024-03-05');
  await run.cancel();
  await expect(run.result()).rejects.toMatchObject({ name: 'RunCancelled' });
  const between = await fingerprints(db);

  await openGate(db, '2024-03-05');
  expect(await (await run.retry()).result()).toMatchObject({ planId, partitions: 10 });
  expect(changedDays(between, await fingerprints(db))).toEqual(march(5, 10));
});

test('after a terminate the plan is taken over, and no late attempt of the old execution can write', async () => {
  const { db, client, temporal } = harness;
  await closeGate(db, '2024-03-05');
  const run = await client.start(request);
  const { runId: executionId } = await run.describe();
  const struck = await untilAtGate(db, '2024-03-05');
  await temporal.workflow.getHandle(run.workflowId).terminate();
  await expect(run.result()).rejects.toMatchObject({ name: 'RunTerminated' });

  const next = await client.start({ plan: struck.planId });
  const again = await untilAtGate(db, '2024-03-05', struck);
  expect(again.planId).toBe(struck.planId);
  expect(await hasSession(db, struck)).toBe(false);
  const between = await fingerprints(db);
  for (const key of ['2024-03-05', '2024-03-06']) {
    await expect(attemptOf(executionId, struck.planId, key)).rejects.toMatchObject({ name: 'RunClosed' });
  }
  expect(changedDays(between, await fingerprints(db))).toEqual([]);

  await openGate(db, '2024-03-05');
  expect(await next.result()).toMatchObject({ planId: struck.planId, partitions: 10 });
  const after = await fingerprints(db);
  expect(changedDays(between, after)).toEqual(march(5, 10));
  for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);
  expect(await replacedKeys(db, struck.planId)).toEqual(march(1, 10));
  expect(await buildCounts(db)).toMatchObject({ '2024-03-04': 1, '2024-03-05': 2, '2024-03-06': 1 });
});

test('an attempt of a terminated execution that nobody can reach any more does not hold up the next', async () => {
  const { db, client, temporal } = harness;
  await closeGate(db, '2024-03-05', '2024-03-06');
  const run = await client.start(request);
  const { runId: executionId } = await run.describe();
  const struck = await untilAtGate(db, '2024-03-05');
  // As of a worker that is cut off from Temporal: it goes on, and no cancel reaches it.
  const cutOff = attemptOf(executionId, struck.planId, '2024-03-06').catch((error: unknown) => error);
  const late = await untilAtGate(db, '2024-03-06');
  await temporal.workflow.getHandle(run.workflowId).terminate();

  const next = await client.start({ plan: struck.planId });
  await untilAtGate(db, '2024-03-05', struck);
  expect(await hasSession(db, late)).toBe(false);
  expect(await cutOff).toMatchObject({ code: '57P01' });
  await openGate(db, '2024-03-05', '2024-03-06');
  expect(await next.result()).toMatchObject({ planId: struck.planId, partitions: 10 });
  expect(await replacedKeys(db, struck.planId)).toEqual(march(1, 10));
});

test('after a terminate a new plan of the range is written, and no late attempt of the old one comes after it', async () => {
  const { db, client, temporal } = harness;
  await closeGate(db, '2024-03-05');
  const run = await client.start(request);
  const { runId: executionId } = await run.describe();
  const struck = await untilAtGate(db, '2024-03-05');
  await temporal.workflow.getHandle(run.workflowId).terminate();

  const next = await client.start({ ...request, reason: 'again' });
  const again = await untilAtGate(db, '2024-03-05', struck);
  expect(again.planId).not.toBe(struck.planId);
  await openGate(db, '2024-03-05');
  expect(await next.result()).toMatchObject({ planId: again.planId, partitions: 10 });
  expect(await runState(db, struck.planId)).toBe('abandoned');
  const after = await fingerprints(db);
  for (const key of ['2024-03-05', '2024-03-06']) {
    await expect(attemptOf(executionId, struck.planId, key)).rejects.toMatchObject({ name: 'RunClosed' });
  }
  expect(changedDays(after, await fingerprints(db))).toEqual([]);
});

test('a plan that a living execution runs is refused to another one', async () => {
  const { db, client } = harness;
  await closeGate(db, '2024-03-05');
  const run = await client.start(request);
  const { planId } = await untilAtGate(db, '2024-03-05');

  const other = await client.start({ plan: planId }, { workflowId: 'another' });
  await expect(other.result()).rejects.toMatchObject({
    name: 'BackfillRefused',
    type: 'Overlap',
    message: expect.stringContaining(run.workflowId),
  });
  expect(await statusOf(harness.temporal, 'another')).toBe('FAILED');
  await openGate(db, '2024-03-05');
  expect(await run.result()).toMatchObject({ planId, partitions: 10 });
});

/** What an activity of an execution does when it comes late. */
async function attemptOf(executionId: string, planId: string, key: string): Promise<void> {
  const [definition] = parseConfig({ tables: [gatedFact()] }).definitions;
  if (!definition) throw new Error('There is no definition');
  const database = openDatabase({ url: harness.db.url, size: 1 });
  try {
    await replacePartition(database, { definition, run: { planId, executionId }, key, attempt: 2, sources: new Map() });
  } finally {
    await database.close();
  }
}
