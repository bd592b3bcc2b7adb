import { ApplicationFailure, Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { progressQuery } from '../../src/contract.js';
import { march } from '../support/fact.js';
import { until } from '../support/wait.js';
import { type WorkflowLab, createWorkflowLab, failureOf } from '../support/workflow-lab.js';
import { Gate } from '../support/workflow-world.js';

let lab: WorkflowLab;
beforeAll(async () => {
  lab = await createWorkflowLab();
});
afterAll(() => lab.close());

/** Stops when it is told to, a moment later, as SQL does. */
async function untilCancelled(stopped: () => void): Promise<void> {
  await Context.current().cancelled.catch(async (reason: unknown) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    stopped();
    throw reason;
  });
}

test('C14 a cancel stops what is in flight, closes the run in the ledger, and only then ends as Canceled', async () => {
  const stopped: string[] = [];
  const world = lab.createWorld({
    keys: march(1, 5),
    options: { concurrency: 2, publish: 'any-order' },
    write: async (key) => {
      if (key !== '2024-03-01') await untilCancelled(() => stopped.push(key));
    },
    instead: ({ own }) => ({
      closeRun: async (input) => {
        // The SQL has stopped by then.
        expect(world.inFlight).toBe(0);
        return own.closeRun(input);
      },
    }),
  });
  const handle = await lab.start(world);
  await until('two are in flight', () => world.inFlight === 2 && world.done.size === 1);
  await handle.cancel();
  expect(await failureOf(handle)).toMatchObject({ status: 'CANCELLED', type: 'CancelledFailure' });
  expect(stopped.sort()).toEqual(march(2, 3));
  expect(march(4, 5).map((key) => world.attemptsAt(key))).toEqual([0, 0]);
  expect(world.calls.at(-1)).toBe('closeRun cancelled');
  expect(world.failures).toEqual([]);
  expect(await handle.query(progressQuery)).toMatchObject({
    state: 'cancelled',
    done: 1,
    total: 5,
    failed: 0,
    writing: [],
    page: [{ state: 'done' }, ...march(2, 5).map((key) => ({ key, state: 'waiting' }))],
  });
});

test('an attempt that failed in passing just as the cancel came is no failure of the run', async () => {
  const world = lab.createWorld({
    keys: march(1, 3),
    write: async (key) => {
      if (key !== '2024-03-02') return;
      await Context.current().cancelled.catch(() => {
        throw ApplicationFailure.create({ type: 'Transient', message: 'the connection was lost' });
      });
    },
  });
  const handle = await lab.start(world);
  await until('the second is in flight', () => world.inFlight === 1 && world.done.size === 1);
  await handle.cancel();
  expect(await failureOf(handle)).toMatchObject({ status: 'CANCELLED', type: 'CancelledFailure' });
  expect(world.calls.at(-1)).toBe('closeRun cancelled');
  expect(world.failures).toEqual([]);
});

test('a partition that was written just as the cancel came counts as written', async () => {
  const gate = new Gate();
  const world = lab.createWorld({ keys: march(1, 3), write: () => gate.pass() });
  const handle = await lab.start(world);
  await gate.reached;
  await handle.cancel();
  await until('the workflow knows', async () => {
    const { events } = await handle.fetchHistory();
    return events?.some((event) => event.activityTaskCancelRequestedEventAttributes);
  });
  gate.open();
  expect(await failureOf(handle)).toMatchObject({ status: 'CANCELLED' });
  expect(await handle.query(progressQuery)).toMatchObject({ state: 'cancelled', done: 1, total: 3 });
  expect([...world.done]).toEqual(['2024-03-01']);
  expect(world.attemptsAt('2024-03-02')).toBe(0);
});

test('a cancel while it is planned ends as Canceled, and leaves no run open', async () => {
  const reached = new Gate();
  const world = lab.createWorld({
    keys: march(1, 3),
    instead: ({ own }) => ({
      makePlan: async (input) => {
        void reached.pass();
        await untilCancelled(() => {});
        return own.makePlan(input);
      },
    }),
  });
  const handle = await lab.start(world);
  await reached.reached;
  expect(await handle.query(progressQuery)).toMatchObject({ state: 'planning', planId: null });
  await handle.cancel();
  expect(await failureOf(handle)).toMatchObject({ status: 'CANCELLED' });
  expect(world.calls).toEqual([]);
  expect(await handle.query(progressQuery)).toMatchObject({ state: 'cancelled' });
});

test('a cancel while it is opened closes the run that may just have been opened', async () => {
  const reached = new Gate();
  const world = lab.createWorld({
    keys: march(1, 3),
    instead: ({ own }) => ({
      openRun: async (input) => {
        await own.openRun(input);
        void reached.pass();
        await untilCancelled(() => {});
        throw new Error('never');
      },
    }),
  });
  const handle = await lab.start(world);
  await reached.reached;
  await handle.cancel();
  expect(await failureOf(handle)).toMatchObject({ status: 'CANCELLED' });
  expect(world.calls).toEqual(['makePlan', 'openRun', 'closeRun cancelled']);
});

test('a cancel in the last read closes the run as cancelled', async () => {
  const reached = new Gate();
  const world = lab.createWorld({
    keys: march(1, 2),
    instead: () => ({
      verifyPage: async () => {
        void reached.pass();
        await untilCancelled(() => {});
        return { differences: [], next: null };
      },
    }),
  });
  const handle = await lab.start(world);
  await reached.reached;
  await handle.cancel();
  expect(await failureOf(handle)).toMatchObject({ status: 'CANCELLED' });
  expect(world.calls.at(-1)).toBe('closeRun cancelled');
});
