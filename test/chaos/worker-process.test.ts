import { expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { buildCounts, closeGate, openGate } from '../support/gate.js';
import { scheduledKeys, statusOf } from '../support/history.js';
import { replacements } from '../support/ledger.js';
import { hasSession, untilAtGate } from '../support/sessions.js';
import { until } from '../support/wait.js';
import { useGatedFact } from '../support/use-gated-fact.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };

const { harness, workers } = useGatedFact(null);

test('a worker killed while day nine is written: another goes on exactly there, by itself', async () => {
  const { db, client, temporal } = harness;
  const first = await workers.start();
  await closeGate(db, '2024-03-09');
  const run = await client.start(request);
  const { runId } = await run.describe();
  const struck = await untilAtGate(db, '2024-03-09');
  expect(struck).toMatchObject({ isActive: true, query: expect.stringContaining('insert into "public"."fact"') });
  const atKill = await fingerprints(db);

  first.signal('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  await workers.start();
  const again = await untilAtGate(db, '2024-03-09', struck);
  expect(again.planId).toBe(struck.planId);
  expect(await hasSession(db, struck)).toBe(false);
  expect(changedDays(atKill, await fingerprints(db))).toEqual([]);
  await openGate(db, '2024-03-09');

  expect(await run.result()).toMatchObject({ planId: struck.planId, partitions: 10, rowsAfter: 1000 });
  expect((await run.describe()).runId).toBe(runId);
  const after = await fingerprints(db);
  expect(changedDays(atKill, after)).toEqual(march(9, 10));
  for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);
  const rows = await replacements(db, struck.planId);
  expect(rows.map(({ key }) => key)).toEqual(march(1, 10));
  expect(rows.filter(({ attempt }) => attempt > 1).map(({ key }) => key)).toEqual(['2024-03-09']);
  expect(await buildCounts(db)).toEqual({ ...allBuiltOnce(), '2024-03-09': 2 });
  expect(await scheduledKeys(temporal, run.workflowId)).toEqual(march(1, 10));
});

test('a worker told to stop lets the partition at work end, and another goes on after it', async () => {
  const { db, client } = harness;
  const first = await workers.start();
  await closeGate(db, '2024-03-05');
  const run = await client.start(request);
  const { planId } = await untilAtGate(db, '2024-03-05');

  first.signal('SIGTERM');
  await until('a worker that stops', () => first.log().includes('STOPPING'));
  await openGate(db, '2024-03-05');
  expect(await first.ended).toBe('code 0');
  const between = await fingerprints(db);
  for (const day of march(1, 5)) expect(between.get(day)).toMatchObject(NEW);
  expect(await statusOf(harness.temporal, run.workflowId)).toBe('RUNNING');

  await workers.start();
  expect(await run.result()).toMatchObject({ planId, partitions: 10 });
  expect(changedDays(between, await fingerprints(db))).toEqual(march(6, 10));
  expect(await buildCounts(db)).toEqual(allBuiltOnce());
  expect((await replacements(db, planId)).map(({ key, attempt }) => [key, attempt])).toEqual(
    march(1, 10).map((key) => [key, 1]),
  );
});

test('a worker whose time to stop runs out rolls the partition back: it is wholly old until another does it', async () => {
  const { db, client } = harness;
  const first = await workers.start();
  await closeGate(db, '2024-03-05');
  const old = await fingerprints(db);
  const run = await client.start(request);
  const struck = await untilAtGate(db, '2024-03-05');

  first.signal('SIGTERM');
  expect(await first.ended).toBe('code 0');
  expect(await hasSession(db, struck)).toBe(false);
  const between = await fingerprints(db);
  expect(changedDays(old, between)).toEqual(march(1, 4));

  await workers.start();
  await untilAtGate(db, '2024-03-05');
  await openGate(db, '2024-03-05');
  expect(await run.result()).toMatchObject({ planId: struck.planId, partitions: 10 });
  expect(changedDays(between, await fingerprints(db))).toEqual(march(5, 10));
  expect((await replacements(db, struck.planId)).map(({ key }) => key)).toEqual(march(1, 10));
});

function allBuiltOnce(): Record<string, number> {
  return Object.fromEntries(march(1, 10).map((key) => [key, 1]));
}
