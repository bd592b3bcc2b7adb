import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { progressQuery } from '../../src/contract.js';
import type { Progress } from '../../src/domain/progress.js';
import { listPartitions } from '../../src/domain/range.js';
import { payloadSizesOf, readChain, scheduledKeysOf } from '../support/run-chain.js';
import { type WorkflowLab, createWorkflowLab, failureOf } from '../support/workflow-lab.js';

/** Case C15: nothing grows with the range. `npm run bench:size` does it in full size, on real tables. */

const MOST_EVENTS = 20_000;
/** Temporal warns of larger ones. */
const MOST_PAYLOAD_BYTES = 256 * 1024;

const hours = listPartitions({ column: 'at', grain: 'hour', timeZone: 'UTC' }, '2024-01-01T00Z', '2024-12-31T23Z');
const days = listPartitions({ column: 'at', grain: 'day', timeZone: 'UTC' }, '1995-01-01', '2024-12-31');
const options = { concurrency: 20, publish: 'any-order' } as const;

let lab: WorkflowLab;
beforeAll(async () => {
  lab = await createWorkflowLab();
});
afterAll(() => lab.close());

test('a run of many pages is many small histories, tells its progress all the time, and goes on at the hour that failed', async () => {
  expect(hours).toHaveLength(8_784);
  const keys = hours.slice(0, 2_000).map(({ key }) => key);
  const faulty = keys[1_549] ?? '';
  let isRepaired = false;
  const world = lab.createWorld({
    keys,
    pageSize: 100,
    options,
    write: (key) => fail(key === faulty && !isRepaired, 'division by zero'),
  });
  const handle = await lab.start(world);
  const asked = askUntilItEnds(handle);
  expect(await failureOf(handle)).toMatchObject({ type: 'PartitionFailed', details: { oldest: { key: faulty } } });
  const answers = await asked;
  // Asked without a pause, so that answers come from many of the executions.
  expect(new Set(answers.map(({ page }) => page[0]?.key)).size).toBeGreaterThan(8);
  expect(answers.map(({ done }) => done)).toEqual(answers.map(({ done }) => done).toSorted((a, b) => a - b));
  expect(answers.every(({ total, planId }) => total === keys.length && planId !== null)).toBe(true);
  expect(await sizes(handle)).toMatchObject({ executions: 16 });
  const before = new Set(world.done);
  expect(keys.slice(0, 1_549).filter((key) => !before.has(key))).toEqual([]);

  isRepaired = true;
  const again = await lab.start(world, [{ plan: answers[0]?.planId }]);
  expect(await again.result()).toMatchObject({ partitions: keys.length });
  const resumed = (await readChain(lab.client, again)).flatMap(scheduledKeysOf);
  expect(resumed[0]).toBe(faulty);
  expect(resumed.toSorted()).toEqual(keys.filter((key) => !before.has(key)).toSorted());
  expect(await sizes(again)).toMatchObject({ executions: 20 });
});

test('of 10,958 days, those that are done cost no event of their own, and pages of the real size stay small', async () => {
  const keys = days.map(({ key }) => key);
  expect(keys).toHaveLength(10_958);
  const world = lab.createWorld({ keys, options, done: keys.slice(0, 10_200) });
  const handle = await lab.start(world);
  expect(await handle.result()).toMatchObject({ partitions: keys.length });
  const chain = await readChain(lab.client, handle);
  expect(chain.map((history) => scheduledKeysOf(history).length)).toEqual([...Array<number>(20).fill(0), 300, 458]);
  expect(await sizes(handle)).toMatchObject({ executions: 22 });
});

test('500 failed partitions of 10 KB each are one failed run', async () => {
  const keys = days.slice(0, 500).map(({ key }) => key);
  const text = `${'it is wrong, and this is why: '.repeat(350)}`;
  expect(text.length).toBeGreaterThan(10_000);
  const world = lab.createWorld({
    keys,
    options: { ...options, onFailure: 'continue' },
    write: () => fail(true, text),
  });
  const handle = await lab.start(world);
  expect(await failureOf(handle)).toMatchObject({
    type: 'PartitionFailed',
    details: { oldest: { key: keys[0] }, failed: 500, done: 0, total: 500 },
  });
  expect(world.failures.map(({ key }) => key).toSorted()).toEqual(keys);
  const { historyBytes } = await sizes(handle);
  // Temporal ends a run at 50 MB.
  expect(historyBytes).toBeLessThan(10 * 1024 * 1024);
});

/** Asks for the progress, one question after the other; each must be answered. */
async function askUntilItEnds(handle: WorkflowHandleWithFirstExecutionRunId): Promise<Progress[]> {
  const answers: Progress[] = [];
  let isOver = false;
  const ended = handle.result().catch(() => undefined);
  void ended.then(() => (isOver = true));
  while (!isOver) {
    const answer = await handle.query(progressQuery);
    if (answer.state === 'running') answers.push(answer);
  }
  return answers;
}

async function sizes(handle: WorkflowHandleWithFirstExecutionRunId) {
  const chain = await readChain(lab.client, handle);
  const events = chain.map((history) => history.events?.length ?? 0);
  const payloads = chain.map(payloadSizesOf);
  expect(Math.max(...events)).toBeLessThan(MOST_EVENTS);
  expect(Math.max(...payloads.flat())).toBeLessThan(MOST_PAYLOAD_BYTES);
  const bytes = payloads.map((ofOne) => ofOne.reduce((sum, size) => sum + size, 0));
  return { executions: chain.length, historyBytes: Math.max(...bytes) };
}

function fail(doesIt: boolean, message: string): void {
  if (doesIt) throw Object.assign(new Error(message), { code: '22012' });
}
