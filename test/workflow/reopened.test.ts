import { afterAll, beforeAll, expect, test } from 'vitest';
import { BackfillError, FailureType } from '../../src/domain/failure.js';
import { march } from '../support/fact.js';
import { type WorkflowLab, createWorkflowLab, failureOf } from '../support/workflow-lab.js';

let lab: WorkflowLab;
beforeAll(async () => {
  lab = await createWorkflowLab();
});
afterAll(() => lab.close());

const closed = () => new BackfillError({ type: FailureType.RunClosed, message: 'the run is closed' });

test('a run that finds itself closed is opened again, and goes on', async () => {
  const world = lab.createWorld({
    keys: march(1, 3),
    write: (key, attempt) => {
      if (key === '2024-03-02' && attempt === 1) throw closed();
    },
  });
  expect(await (await lab.start(world)).result()).toMatchObject({ partitions: 3 });
  expect(world.calls.slice(3, 7)).toEqual([
    'replacePartition 2024-03-01',
    'replacePartition 2024-03-02',
    'openRun',
    'replacePartition 2024-03-02',
  ]);
  expect(world.failures).toEqual([]);
});

test('several partitions that find it closed at once open it once', async () => {
  const world = lab.createWorld({
    keys: march(1, 6),
    options: { concurrency: 3, publish: 'any-order' },
    write: (key, attempt) => {
      if (key <= '2024-03-03' && attempt === 1) throw closed();
    },
  });
  expect(await (await lab.start(world)).result()).toMatchObject({ partitions: 6 });
  expect(openings(world)).toBe(2);
  expect(march(1, 6).map((key) => world.attemptsAt(key))).toEqual([2, 2, 2, 1, 1, 1]);
});

test('a run that is closed a second time is opened a second time', async () => {
  const world = lab.createWorld({
    keys: march(1, 3),
    write: (key, attempt) => {
      if (key !== '2024-03-01' && attempt === 1) throw closed();
    },
  });
  expect(await (await lab.start(world)).result()).toMatchObject({ partitions: 3 });
  expect(openings(world)).toBe(3);
  expect(world.failures).toEqual([]);
});

test('where that is refused the run is, with the words of the refusal, and no partition is called failed', async () => {
  const world = lab.createWorld({
    keys: march(1, 8),
    options: { concurrency: 3, publish: 'any-order' },
    write: (key) => {
      if (key !== '2024-03-01') throw closed();
    },
    instead: (self) => ({
      openRun: (input) => {
        if (!self.calls.includes('openRun')) return self.own.openRun(input);
        throw new BackfillError({ type: FailureType.PlanDrift, message: 'The plan is out of date' });
      },
    }),
  });
  expect(await failureOf(await lab.start(world))).toMatchObject({
    status: 'FAILED',
    type: 'PlanDrift',
    message: 'The plan is out of date',
  });
  expect(world.failures).toEqual([]);
  expect(world.calls.at(-1)).toBe('closeRun failed');
  expect(world.attemptsAt('2024-03-06')).toBe(0);
});

test('a run that is closed again at once fails as what it is', async () => {
  const world = lab.createWorld({
    keys: march(1, 2),
    write: () => {
      throw closed();
    },
  });
  expect(await failureOf(await lab.start(world))).toMatchObject({
    type: 'PartitionFailed',
    details: { oldest: { key: '2024-03-01', type: 'RunClosed' } },
  });
  expect(world.attemptsAt('2024-03-01')).toBe(2);
});

function openings({ calls }: { readonly calls: readonly string[] }): number {
  return calls.filter((call) => call === 'openRun').length;
}
