import { afterAll, beforeAll, expect, test } from 'vitest';
import { BackfillError, FailureType } from '../../src/domain/failure.js';
import { march } from '../support/fact.js';
import { type WorkflowLab, createWorkflowLab, failureOf } from '../support/workflow-lab.js';
import { Gate } from '../support/workflow-world.js';

let lab: WorkflowLab;
beforeAll(async () => {
  lab = await createWorkflowLab();
});
afterAll(() => lab.close());

const serverError = (code: string, message: string) => Object.assign(new Error(message), { code });
const anyOrder = { publish: 'any-order' } as const;

test('C26 transient trouble is tried again until it passes', async () => {
  const world = lab.createWorld({
    keys: march(1, 3),
    write: (key, attempt) => {
      if (key === '2024-03-02' && attempt < 3) throw serverError('40P01', 'deadlock detected');
    },
  });
  expect(await (await lab.start(world)).result()).toMatchObject({ partitions: 3 });
  expect(march(1, 3).map((key) => world.attemptsAt(key))).toEqual([1, 3, 1]);
  expect(world.failures).toEqual([]);
});

test('C26 transient trouble that does not pass ends with the time of the partition', async () => {
  const world = lab.createWorld({
    keys: march(1, 2),
    partitionMs: 1_500,
    write: () => {
      throw serverError('55P03', 'lock not available');
    },
  });
  const failure = await failureOf(await lab.start(world));
  expect(failure).toMatchObject({
    type: 'PartitionFailed',
    details: { oldest: { key: '2024-03-01', type: 'TimedOut' }, failed: 1, done: 0 },
  });
  expect(failure.message).toContain('the last attempt said: lock not available (SQLSTATE 55P03)');
  expect(world.attemptsAt('2024-03-01')).toBeGreaterThan(1);
});

test('C10 a partition that fails for good stops the run, which names it and the cause', async () => {
  const world = lab.createWorld({
    keys: march(1, 5),
    write: (key) => {
      if (key === '2024-03-03') throw serverError('23505', 'duplicate key value');
    },
  });
  const handle = await lab.start(world);
  const failure = await failureOf(handle);
  expect(failure).toEqual({
    status: 'FAILED',
    type: 'PartitionFailed',
    message: `${world.table} 2024-03-03 failed: duplicate key value (SQLSTATE 23505)`,
    details: {
      planId: expect.any(String) as string,
      oldest: {
        key: '2024-03-03',
        type: 'SqlFailed',
        message: 'duplicate key value (SQLSTATE 23505)',
        sqlstate: '23505',
      },
      failed: 1,
      done: 2,
      total: 5,
    },
  });
  expect(march(1, 5).map((key) => world.attemptsAt(key))).toEqual([1, 1, 1, 0, 0]);
  expect(world.calls.slice(-2)).toEqual(['recordFailure 2024-03-03', 'closeRun failed']);
  expect(world.failures).toMatchObject([
    { key: '2024-03-03', table: world.table, attempt: 1, info: { type: 'SqlFailed', sqlstate: '23505' } },
  ]);
});

test('C10 the same where the failing partition is the last one', async () => {
  const world = lab.createWorld({ keys: march(1, 2), write: (key) => failAt(key, '2024-03-02') });
  expect(await failureOf(await lab.start(world))).toMatchObject({
    details: { oldest: { key: '2024-03-02' }, done: 1 },
  });
});

test('after a failure those in flight are finished, and no other is started', async () => {
  const [third, failed] = [new Gate(), new Gate()];
  const world = lab.createWorld({
    keys: march(1, 6),
    options: { ...anyOrder, concurrency: 3 },
    write: async (key) => {
      if (key === '2024-03-02') await failed.pass();
      if (key === '2024-03-03') await third.pass();
      failAt(key, '2024-03-02');
      if (key === '2024-03-01') await third.reached;
    },
    instead: ({ own }) => ({
      recordFailure: async (failure) => {
        await own.recordFailure(failure);
        third.open();
      },
    }),
  });
  const handle = await lab.start(world);
  // The first is done and the fourth has taken its place when the second fails.
  await third.reached;
  failed.open();
  expect(await failureOf(handle)).toMatchObject({
    type: 'PartitionFailed',
    details: { oldest: { key: '2024-03-02' } },
  });
  expect(world.done).toContain('2024-03-03');
  expect(world.inFlight).toBe(0);
  expect(world.attemptsAt('2024-03-06')).toBe(0);
});

test('the oldest failed partition is named, though a later one failed first', async () => {
  const laterFailed = new Gate();
  const world = lab.createWorld({
    keys: march(1, 6),
    options: { ...anyOrder, concurrency: 4, onFailure: 'continue' },
    write: async (key) => {
      if (key === '2024-03-02') await laterFailed.opened;
      if (key === '2024-03-02' || key === '2024-03-04') throw serverError('22012', `${key} divides by zero`);
    },
    instead: ({ own }) => ({
      recordFailure: async (failure) => {
        await own.recordFailure(failure);
        laterFailed.open();
      },
    }),
  });
  const failure = await failureOf(await lab.start(world));
  expect(world.failures.map(({ key }) => key)).toEqual(['2024-03-04', '2024-03-02']);
  expect(failure.message).toBe(`${world.table} 2024-03-02 failed: 2024-03-02 divides by zero (SQLSTATE 22012)`);
  expect(failure.details).toMatchObject({ oldest: { key: '2024-03-02' }, failed: 2, done: 4, total: 6 });
});

test('with onFailure "continue" all others are written, and the run fails all the same', async () => {
  const world = lab.createWorld({
    keys: march(1, 5),
    options: { ...anyOrder, onFailure: 'continue' },
    write: (key) => failAt(key, '2024-03-02'),
  });
  expect(await failureOf(await lab.start(world))).toMatchObject({ status: 'FAILED', details: { failed: 1, done: 4 } });
  expect([...world.done]).toEqual(['2024-03-01', ...march(3, 5)]);
  // A run that failed is not read back: the ledger says what is missing.
  expect(world.calls).not.toContain('verifyPage 0');
});

test('a failure that cannot be recorded is not fatal: the run names it all the same', async () => {
  const refused = () => Promise.reject(new BackfillError({ type: FailureType.SqlFailed, message: 'read only' }));
  const world = lab.createWorld({
    keys: march(1, 3),
    options: { ...anyOrder, onFailure: 'continue' },
    write: (key) => failAt(key, '2024-03-01'),
    instead: () => ({ recordFailure: refused }),
  });
  expect(await failureOf(await lab.start(world))).toMatchObject({
    details: { oldest: { key: '2024-03-01' }, done: 2 },
  });
  expect(world.calls.at(-1)).toBe('closeRun failed');
});

test.each([FailureType.CheckFailed, FailureType.EmptyBuild, FailureType.StrayRows, FailureType.ShapeChanged])(
  '%s is tried once, and its facts reach the failure of the run',
  async (type) => {
    const info = { type, message: 'why', check: 'unique: id', sample: ['2024-03-06'] };
    const world = lab.createWorld({ keys: march(1, 1), write: () => Promise.reject(new BackfillError(info)) });
    const { details } = await failureOf(await lab.start(world));
    expect(details).toMatchObject({ oldest: { key: '2024-03-01', ...info } });
    expect(world.attemptsAt('2024-03-01')).toBe(1);
  },
);

function failAt(key: string, failing: string): void {
  if (key === failing) throw serverError('22012', 'division by zero');
}
