import { afterAll, beforeAll, expect, test } from 'vitest';
import { march } from '../support/fact.js';
import { readChain, scheduledKeysOf } from '../support/run-chain.js';
import { until } from '../support/wait.js';
import { type WorkflowLab, createWorkflowLab, failureOf } from '../support/workflow-lab.js';
import { Gate } from '../support/workflow-world.js';

let lab: WorkflowLab;
beforeAll(async () => {
  lab = await createWorkflowLab();
});
afterAll(() => lab.close());

const anyOrder = (concurrency: number) => ({ concurrency, publish: 'any-order' }) as const;

/** The two that end a run, in no order. */
const sideBySide = ['refreshStatistics', 'verifyPage 0'];

test('a run of three pages continues as new twice, and is one run to the ledger', async () => {
  const executions = new Set<string>();
  const world = lab.createWorld({
    keys: march(1, 5),
    pageSize: 2,
    instead: ({ own }) => ({
      replacePartition: (input) => {
        executions.add(input.executionId);
        return own.replacePartition(input);
      },
    }),
  });
  const handle = await lab.start(world);
  expect(await handle.result()).toMatchObject({ partitions: 5, from: '2024-03-01', to: '2024-03-05' });
  const chain = await readChain(lab.client, handle);
  expect(chain.map(scheduledKeysOf)).toEqual([march(1, 2), march(3, 4), march(5, 5)]);
  expect([...executions]).toEqual([handle.firstExecutionRunId]);
  expect(world.calls.filter((call) => !call.startsWith('replacePartition') && !sideBySide.includes(call))).toEqual([
    'makePlan',
    'openRun',
    'readWorkPage 0',
    'readWorkPage 2',
    'readWorkPage 4',
    'closeRun completed',
  ]);
  expect(world.calls.filter((call) => sideBySide.includes(call)).sort()).toEqual(sideBySide);
});

test('every execution of a run says of which table and plan it is', async () => {
  const world = lab.createWorld({ keys: march(1, 5), pageSize: 2 });
  const handle = await lab.start(world);
  const { planId } = (await handle.result()) as { planId: string };
  const { memo } = await lab.client.workflow.getHandle(handle.workflowId).describe();
  expect(memo).toMatchObject({ table: world.table, from: '2024-03-01', to: '2024-03-05', planId });
});

test('what continue-as-new hands on stays small, however many partitions there are', async () => {
  const keys = Array.from({ length: 60 }, (_, i) => new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10));
  const world = lab.createWorld({ keys, pageSize: 50, options: anyOrder(20) });
  const handle = await lab.start(world);
  await handle.result();
  const [first] = await readChain(lab.client, handle);
  const handedOn = first?.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.input?.payloads ?? [];
  const bytes = handedOn.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
  expect(handedOn).toHaveLength(2);
  expect(bytes).toBeLessThan(2_000);
});

test('a failure in an earlier page is the run’s failure at its end, where it goes on', async () => {
  const world = lab.createWorld({
    keys: march(1, 5),
    pageSize: 2,
    options: { ...anyOrder(1), onFailure: 'continue' },
    write: (key) => fail(key === '2024-03-02' || key === '2024-03-05'),
  });
  const handle = await lab.start(world);
  expect(await failureOf(handle)).toMatchObject({
    type: 'PartitionFailed',
    details: { oldest: { key: '2024-03-02' }, failed: 2, done: 3, total: 5 },
  });
  expect((await readChain(lab.client, handle)).map(scheduledKeysOf)).toEqual([march(1, 2), march(3, 4), march(5, 5)]);
});

test('a failure on the last partition of a page starts no next page, where the run stops', async () => {
  const world = lab.createWorld({ keys: march(1, 4), pageSize: 2, write: (key) => fail(key === '2024-03-02') });
  const handle = await lab.start(world);
  expect(await failureOf(handle)).toMatchObject({ details: { oldest: { key: '2024-03-02' }, done: 1 } });
  expect(await readChain(lab.client, handle)).toHaveLength(1);
  expect(world.attemptsAt('2024-03-03')).toBe(0);
});

test('with concurrency 4 never more than 4 are in flight, and they are scheduled in ascending order', async () => {
  const gates = new Map(march(1, 12).map((key) => [key, new Gate()]));
  const world = lab.createWorld({
    keys: march(1, 12),
    options: anyOrder(4),
    write: (key) => gates.get(key)?.pass(),
  });
  const handle = await lab.start(world);
  // The slowest is the first: it must not hold up the eight that follow the other three.
  const order = [
    ...march(2, 12)
      .reverse()
      .filter((_, i) => i % 2 === 0),
    ...march(2, 12),
  ];
  await until('four are in flight', () => world.inFlight === 4);
  expect([...world.done]).toEqual([]);
  for (const key of order) gates.get(key)?.open();
  await until('all but the first are written', () => world.done.size === 11);
  expect(world.inFlight).toBe(1);
  gates.get('2024-03-01')?.open();
  expect(await handle.result()).toMatchObject({ partitions: 12 });
  expect(world.mostInFlight).toBe(4);
  expect(scheduledKeysOf(await handle.fetchHistory())).toEqual(march(1, 12));
});

function fail(doesIt: boolean): void {
  if (doesIt) throw Object.assign(new Error('division by zero'), { code: '22012' });
}
