import { expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { changedDays } from '../support/changed-days.js';
import { fingerprints, march } from '../support/fact.js';
import { buildCounts, closeGate, gatedFact, openGate } from '../support/gate.js';
import type { TableInput } from '../support/harness.js';
import { scheduledKeys } from '../support/history.js';
import { replacedKeys } from '../support/ledger.js';
import { untilAtGate } from '../support/sessions.js';
import { useGatedFact } from '../support/use-gated-fact.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };

/** Divides by null on the sixth. */
const wrong = gatedFact({
  build: ({ startDate, endDate }) => sql`
    select day, id, amount / (extract(day from day)::int - 6) * (extract(day from day)::int - 6) as amount
      from src where day >= ${startDate} and day < ${endDate}`,
});
const fixed = gatedFact();

const { harness } = useGatedFact([fixed]);

test('after a wrong definition was fixed, replan writes what is unfinished and lists what is kept', async () => {
  const { db, client, temporal } = harness;
  await harness.restartWorker({ tables: [wrong] });
  const run = await client.start(request);
  const failed: unknown = await run.result().catch((error: unknown) => error);
  expect(failed).toMatchObject({ name: 'PartitionFailed', key: '2024-03-06', failure: { sqlstate: '22012' } });
  const { planId } = failed as { planId: string };
  const before = await fingerprints(db);

  await harness.restartWorker({ tables: [fixed] });
  const refused = await client.start({ plan: planId });
  await expect(refused.result()).rejects.toMatchObject({
    name: 'BackfillRefused',
    type: 'PlanDrift',
    message: expect.stringContaining('the definition of the table'),
  });
  expect(changedDays(before, await fingerprints(db))).toEqual([]);

  const shown = await client.plan({ plan: planId, replan: true });
  expect(shown.partitions.map(({ key }) => key)).toEqual(march(6, 10));
  expect(shown.replaces).toEqual({ planId, keysKept: march(1, 5) });
  const next = await client.start({ plan: planId, replan: true });
  const result = await next.result();
  expect(result).toMatchObject({ partitions: 5 });
  expect(await scheduledKeys(temporal, next.workflowId)).toEqual(march(6, 10));
  expect(changedDays(before, await fingerprints(db))).toEqual(march(6, 10));
  expect((await client.readPlan(result.planId))?.replaces).toEqual({ planId, keysKept: march(1, 5) });
  expect(await replacedKeys(db, result.planId)).toEqual(march(6, 10));
});

test('a plan that was made anew, and shown, runs as shown', async () => {
  const { db, client } = harness;
  await harness.restartWorker({ tables: [wrong] });
  const run = await client.start(request);
  const failed: unknown = await run.result().catch((error: unknown) => error);
  const before = await fingerprints(db);
  await harness.restartWorker({ tables: [fixed] });
  const plan = await client.plan({ plan: (failed as { planId: string }).planId, replan: true });
  const next = await client.start({ plan: plan.planId });
  expect(await next.result()).toMatchObject({ planId: plan.planId, partitions: 5 });
  expect(changedDays(before, await fingerprints(db))).toEqual(march(6, 10));
});

/** A run of which the first five days are written when a worker with another definition takes over. */
async function runInto(another: TableInput, options: { readonly allowDefinitionChange?: boolean } = {}) {
  const { db, client } = harness;
  await harness.restartWorker({ tables: [fixed] });
  await closeGate(db, '2024-03-05');
  const run = await client.start({ ...request, ...options });
  await untilAtGate(db, '2024-03-05');
  const stopping = harness.stopWorker();
  await openGate(db, '2024-03-05');
  await stopping;
  const before = await fingerprints(db);
  await harness.restartWorker({ tables: [another] });
  return { run, before };
}

test('a worker with another definition stops the run at the next partition', async () => {
  const { db } = harness;
  const { run, before } = await runInto(gatedFact({ whenEmpty: 'empty' }));
  await expect(run.result()).rejects.toMatchObject({
    name: 'PartitionFailed',
    key: '2024-03-06',
    done: 5,
    failure: { type: 'DefinitionChanged' },
  });
  expect(changedDays(before, await fingerprints(db))).toEqual([]);
  expect(await buildCounts(db)).toMatchObject({ '2024-03-05': 1, '2024-03-06': 0, '2024-03-07': 0 });
});

test('with allowDefinitionChange it goes on, and what the other one built counts as outdated', async () => {
  const { db, client } = harness;
  const other = gatedFact({
    build: ({ startDate, endDate }) =>
      sql`select day, id, 3 as amount from src where day >= ${startDate} and day < ${endDate}`,
  });
  const { run } = await runInto(other, { allowDefinitionChange: true });
  expect(await run.result()).toMatchObject({ partitions: 10 });
  const days = await fingerprints(db);
  expect(march(5, 6).map((day) => days.get(day)?.sum)).toEqual(['200.00', '300.00']);
  const { counts } = await client.plan({ ...request, select: 'outdated' });
  expect(counts).toMatchObject({ replace: 10 });
});

test('with allowDefinitionChange, too, keys must mean what they meant', async () => {
  const { partitionBy } = fixed;
  const { run, before } = await runInto(gatedFact({ partitionBy: { ...partitionBy, timeZone: 'Asia/Tokyo' } }), {
    allowDefinitionChange: true,
  });
  await expect(run.result()).rejects.toMatchObject({ key: '2024-03-06', failure: { type: 'DefinitionChanged' } });
  expect(changedDays(before, await fingerprints(harness.db))).toEqual([]);
});
