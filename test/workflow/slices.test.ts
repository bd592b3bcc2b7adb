import { ApplicationFailure, Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { progressQuery } from '../../src/contract.js';
import { listPartitions } from '../../src/domain/range.js';
import { readChain, scheduledKeysOf } from '../support/run-chain.js';
import { until } from '../support/wait.js';
import { type WorkflowLab, createWorkflowLab, failureOf } from '../support/workflow-lab.js';
import { Gate } from '../support/workflow-world.js';

/** Long runs of small partitions: several to an activity, and every promise as with one. */

let lab: WorkflowLab;
beforeAll(async () => {
  lab = await createWorkflowLab();
});
afterAll(() => lab.close());

const keys = listPartitions({ column: 'at', grain: 'day', timeZone: 'UTC' }, '2024-01-01', '2024-04-09').map(
  ({ key }) => key,
);
/** Deep in a run whose slices have grown. */
const SIXTIETH = keys[59] ?? '';

test('fast partitions share activities, each of which names its first and last', async () => {
  expect(keys).toHaveLength(100);
  const world = lab.createWorld({ keys });
  const handle = await lab.start(world);
  expect(await handle.result()).toMatchObject({ partitions: 100 });
  const history = await handle.fetchHistory();
  expect(scheduledKeysOf(history)).toEqual(keys);
  const ids = (history.events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityId ?? [],
  );
  const ofTable = ids.filter((id) => id.startsWith(`${world.table}/`));
  expect(ofTable[0]).toBe(`${world.table}/2024-01-01`);
  expect(ofTable[1]).toMatch(new RegExp(`^${world.table}/2024-01-02\\.\\.2024-0[12]-..$`));
  expect(ofTable.length).toBeLessThan(60);
  expect(writes(world.calls)).toEqual(keys);
});

test('a run of a month has an activity for each', async () => {
  const world = lab.createWorld({ keys: keys.slice(0, 31) });
  const handle = await lab.start(world);
  await handle.result();
  expect((await handle.fetchHistory()).events?.filter(isSlice)).toEqual([]);
});

test('one that fails in the middle of a slice is the oldest that is not written, and nothing is written after it', async () => {
  const world = lab.createWorld({ keys, write: (key) => fail(key === SIXTIETH) });
  const handle = await lab.start(world);
  expect(await failureOf(handle)).toMatchObject({
    type: 'PartitionFailed',
    details: { oldest: { key: SIXTIETH }, failed: 1, done: 59, total: 100 },
  });
  expect([...world.done]).toEqual(keys.slice(0, 59));
  expect(world.failures.map(({ key }) => key)).toEqual([SIXTIETH]);
  // The slice that met it left it to an activity that is its own.
  expect(writes(world.calls)).toEqual([...keys.slice(0, 60), SIXTIETH]);
  expect(await handle.query(progressQuery)).toMatchObject({ done: 59, failed: 1, writing: [] });
});

test('W3 a failure that a slice met while another had failed is waited for: the oldest is named, and both count', async () => {
  const older = new Gate();
  const bad = [keys[20] ?? '', keys[70] ?? ''];
  const world = lab.createWorld({
    keys,
    options: { concurrency: 2, publish: 'any-order' },
    write: async (key) => {
      if (key === bad[0] && world.attemptsAt(key) === 1) await older.pass();
      fail(bad.includes(key));
    },
  });
  const handle = await lab.start(world);
  await until('the newer one has failed', () => world.failures.length === 1);
  older.open();
  expect(await failureOf(handle)).toMatchObject({ details: { oldest: { key: bad[0] }, failed: 2 } });
  expect(world.failures.map(({ key }) => key)).toEqual([bad[1], bad[0]]);
});

test('where the run goes on after failures, each partition is written once, and each failure counted once', async () => {
  const isBad = (key: string) => key.endsWith('5');
  const bad = keys.filter(isBad);
  const world = lab.createWorld({
    keys,
    pageSize: 40,
    options: { concurrency: 4, publish: 'any-order', onFailure: 'continue' },
    write: (key) => fail(isBad(key)),
  });
  const handle = await lab.start(world);
  expect(await failureOf(handle)).toMatchObject({
    details: { oldest: { key: bad[0] }, failed: bad.length, done: 100 - bad.length, total: 100 },
  });
  const good = keys.filter((key) => !isBad(key));
  expect([...world.done].toSorted()).toEqual(good);
  expect(
    writes(world.calls)
      .filter((key) => !isBad(key))
      .toSorted(),
  ).toEqual(good);
  expect(world.failures.map(({ key }) => key).toSorted()).toEqual(bad);
  expect(await readChain(lab.client, handle)).toHaveLength(3);
});

test('a fault that passes is met again by an activity of its own, with the waits of its retries', async () => {
  const world = lab.createWorld({
    keys,
    write: (key, attempt) => {
      if (key === SIXTIETH && attempt < 3) throw ApplicationFailure.create({ type: 'Transient', message: 'away' });
    },
  });
  const handle = await lab.start(world);
  expect(await handle.result()).toMatchObject({ partitions: 100 });
  expect(world.attemptsAt(SIXTIETH)).toBe(3);
  expect(writes(world.calls).toSorted()).toEqual([...keys, SIXTIETH, SIXTIETH].toSorted());
  expect(world.failures).toEqual([]);
});

test('a slice that is not done in its time names the one at which it stood, and none that is written', async () => {
  const world = lab.createWorld({
    keys,
    partitionMs: 5_000,
    write: (key) => (key === SIXTIETH ? Context.current().cancelled : undefined),
  });
  const handle = await lab.start(world);
  expect(await failureOf(handle)).toMatchObject({
    type: 'PartitionFailed',
    details: { oldest: { key: SIXTIETH, type: 'TimedOut' }, failed: 1, done: 59, total: 100 },
  });
  expect(world.failures.map(({ key }) => key)).toEqual([SIXTIETH]);
});

test('continue-as-new in the middle of a page: what slices give back is done before, and no failure is met twice', async () => {
  const all = listPartitions({ column: 'at', grain: 'day', timeZone: 'UTC' }, '2020-01-01', '2023-12-31');
  const isBad = (i: number) => (i * 7) % 20 < 7;
  const bad = all.filter((_, i) => isBad(i)).map(({ key }) => key);
  const places = new Map(all.map(({ key }, i) => [key, i]));
  const world = lab.createWorld({
    keys: [...places.keys()],
    pageSize: 5000,
    options: { concurrency: 6, publish: 'any-order', onFailure: 'continue' },
    write: async (key) => {
      const place = places.get(key) ?? 0;
      await new Promise((resolve) => setTimeout(resolve, (place * 37) % 60));
      fail(isBad(place));
    },
  });
  const handle = await lab.start(world);
  expect(await failureOf(handle)).toMatchObject({ details: { failed: bad.length, done: all.length - bad.length } });
  expect(world.failures.map(({ key }) => key).toSorted()).toEqual(bad);
  // One page: the server suggested it.
  expect((await readChain(lab.client, handle)).length).toBeGreaterThan(1);
});

test('what is slow gets an activity for itself again', async () => {
  const slow = keys.slice(60);
  const world = lab.createWorld({
    keys: keys.slice(0, 64),
    write: async (key) => {
      if (slow.includes(key)) await new Promise((resolve) => setTimeout(resolve, 1_100));
    },
  });
  const handle = await lab.start(world);
  await handle.result();
  const last = (await handle.fetchHistory()).events?.filter(isWriting).at(-1);
  expect(last?.activityTaskScheduledEventAttributes?.activityId).toBe(`${world.table}/${keys[63]}`);
  expect(writes(world.calls)).toEqual(keys.slice(0, 64));
});

test('C14 a cancel in the middle of a slice: what is written counts, and what was at work is written by nobody', async () => {
  const reached = new Gate();
  const world = lab.createWorld({
    keys,
    write: async (key) => {
      if (key !== SIXTIETH) return;
      void reached.pass();
      await Context.current().cancelled;
    },
  });
  const handle = await lab.start(world);
  await reached.reached;
  await handle.cancel();
  expect(await failureOf(handle)).toMatchObject({ status: 'CANCELLED' });
  expect(await handle.query(progressQuery)).toMatchObject({ state: 'cancelled', done: 59, failed: 0, writing: [] });
  expect([...world.done]).toEqual(keys.slice(0, 59));
  expect(world.failures).toEqual([]);
});

test('W1 slices side by side are no more than `concurrency`, and all see each partition once', async () => {
  const world = lab.createWorld({
    keys,
    options: { concurrency: 3, publish: 'any-order' },
    write: () => new Promise((resolve) => setTimeout(resolve, 5)),
  });
  const handle = await lab.start(world);
  await until('the run is at work', () => world.done.size > 20);
  const progress = await handle.query(progressQuery);
  expect(progress.writing.length).toBeLessThanOrEqual(3);
  expect(await handle.result()).toMatchObject({ partitions: 100 });
  expect(world.mostInFlight).toBe(3);
  expect(writes(world.calls).toSorted()).toEqual(keys);
});

type Event = NonNullable<Awaited<ReturnType<typeof readChain>>[number]['events']>[number];

function isWriting({ activityTaskScheduledEventAttributes: scheduled }: Event): boolean {
  return scheduled?.activityType?.name?.startsWith('replacePartition') ?? false;
}

function isSlice({ activityTaskScheduledEventAttributes: scheduled }: Event): boolean {
  return scheduled?.activityType?.name === 'replacePartitions';
}

function writes(calls: readonly string[]): string[] {
  return calls.flatMap((call) => /^replacePartition (.*)$/.exec(call)?.[1] ?? []);
}

function fail(doesIt: boolean): void {
  if (doesIt) throw Object.assign(new Error('division by zero'), { code: '22012' });
}
