import { expect, test } from 'vitest';
import { runBackfill, runTemporal } from '../support/commands.js';
import { changedDays } from '../support/changed-days.js';
import { NEW, OLD, fingerprints, march } from '../support/fact.js';
import { closeGate, openGate } from '../support/gate.js';
import { statusOf } from '../support/history.js';
import { leftovers } from '../support/leftovers.js';
import { untilAtGate } from '../support/sessions.js';
import { until } from '../support/wait.js';
import { useGatedFact } from '../support/use-gated-fact.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-06' };

/** The case says ten seconds; the rest is for a machine that other tests keep busy. */
const SOON_MS = 20_000;

interface Way {
  readonly name: string;
  readonly status: 'CANCELLED' | 'TERMINATED';
  readonly end: (workflowId: string) => Promise<unknown>;
}

const cancels: readonly Way[] = [
  {
    name: 'a cancel by the Temporal CLI',
    status: 'CANCELLED',
    end: (id) => runTemporal(harness.env, 'workflow', 'cancel', '--workflow-id', id),
  },
  { name: 'a cancel by the backfill CLI', status: 'CANCELLED', end: (id) => runBackfill(harness.env, 'cancel', id) },
  { name: 'a cancel by the client', status: 'CANCELLED', end: (id) => harness.client.get(id).cancel() },
];

const terminates: readonly Way[] = [
  {
    name: 'a terminate by the Temporal CLI',
    status: 'TERMINATED',
    end: (id) => runTemporal(harness.env, 'workflow', 'terminate', '--workflow-id', id),
  },
  {
    name: 'a terminate by the client',
    status: 'TERMINATED',
    end: (id) => harness.temporal.workflow.getHandle(id).terminate(),
  },
];

const { harness, workers } = useGatedFact(null);

test.each([...cancels, ...terminates])('C14 $name leaves nothing behind', async ({ status, end }) => {
  await workers.start();
  const before = await stopped();
  const id = await runToGate();
  await end(id);
  await demandGone(id, status, before);
  await demandAccepted(before.days);
});

test.each(cancels)('C14 $name of a run whose worker was killed, after the worker is back', async ({ end, status }) => {
  const first = await workers.start();
  const before = await stopped();
  const id = await runToGate();
  first.signal('SIGKILL');
  await first.ended;
  // The command waits for the end of the run, which needs a worker.
  const ending = end(id);
  await until('the request to cancel', async () => cancelIsAsked(id));
  await workers.start();
  await demandGone(id, status, before);
  await ending;
  await demandAccepted(before.days);
});

test.each(terminates)('C14 $name of a run whose worker was killed', async ({ end, status }) => {
  const first = await workers.start();
  const before = await stopped();
  const id = await runToGate();
  first.signal('SIGKILL');
  await first.ended;
  await end(id);
  await workers.start();
  await demandGone(id, status, before);
  await demandAccepted(before.days);
});

interface Before {
  readonly days: Awaited<ReturnType<typeof fingerprints>>;
  readonly tables: readonly string[];
}

async function stopped(): Promise<Before> {
  const { tables } = await leftovers(harness.db);
  return { days: await fingerprints(harness.db), tables };
}

/** Starts a run, and waits until it stands in the middle of its fourth day. */
async function runToGate(): Promise<string> {
  await closeGate(harness.db, '2024-03-04');
  const run = await harness.client.start(request);
  await untilAtGate(harness.db, '2024-03-04');
  return run.workflowId;
}

async function demandGone(id: string, status: Way['status'], before: Before): Promise<void> {
  await until('the end of the run', async () => (await statusOf(harness.temporal, id)) === status, SOON_MS);
  const nothing = { sessions: 0, locks: 0, tables: before.tables };
  await until('an end without sessions', async () => (await leftovers(harness.db)).sessions === 0, SOON_MS);
  expect(await leftovers(harness.db)).toEqual(nothing);
  const after = await fingerprints(harness.db);
  expect(changedDays(before.days, after)).toEqual(march(1, 3));
  expect(after.get('2024-03-04')).toMatchObject(OLD);
}

/** Nobody cleaned up. */
async function demandAccepted(before: Before['days']): Promise<void> {
  await openGate(harness.db, '2024-03-04');
  const next = await harness.client.start(request);
  expect(await next.result()).toMatchObject({ partitions: 6 });
  const after = await fingerprints(harness.db);
  expect(changedDays(before, after)).toEqual(march(1, 6));
  for (const day of march(1, 6)) expect(after.get(day)).toMatchObject(NEW);
}

async function cancelIsAsked(id: string): Promise<boolean> {
  const { events } = await harness.temporal.workflow.getHandle(id).fetchHistory();
  return (events ?? []).some((event) => event.workflowExecutionCancelRequestedEventAttributes);
}
