import { ApplicationFailure } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { searchAttributes } from '../../src/contract.js';
import { canonicalRequest } from '../../src/domain/canonical-request.js';
import { BackfillError, FailureType } from '../../src/domain/failure.js';
import { march } from '../support/fact.js';
import { scheduledKeysOf } from '../support/run-chain.js';
import { type WorkflowLab, createWorkflowLab, failureOf } from '../support/workflow-lab.js';

let lab: WorkflowLab;
beforeAll(async () => {
  lab = await createWorkflowLab();
});
afterAll(() => lab.close());

/** The two that end a run, in no order. */
const sideBySide = ['refreshStatistics', 'verifyPage 0'];

test('a run plans, opens, writes oldest first, reads back, closes, and says what it did', async () => {
  const world = lab.createWorld({ keys: march(1, 3) });
  const handle = await lab.start(world);
  expect(await handle.result()).toEqual({
    planId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    table: world.table,
    from: '2024-03-01',
    to: '2024-03-03',
    partitions: 3,
    rowsBefore: 300,
    rowsAfter: 270,
    changes: null,
    emptied: [],
    keptUntil: null,
  });
  expect(world.calls.filter((call) => !sideBySide.includes(call))).toEqual([
    'makePlan',
    'openRun',
    'readWorkPage 0',
    'replacePartition 2024-03-01',
    'replacePartition 2024-03-02',
    'replacePartition 2024-03-03',
    'closeRun completed',
  ]);
  expect(world.calls.filter((call) => sideBySide.includes(call)).sort()).toEqual(sideBySide);
  expect(world.mostInFlight).toBe(1);
});

test('each partition is named in the history', async () => {
  const world = lab.createWorld({ keys: march(1, 2) });
  const handle = await lab.start(world);
  await handle.result();
  const history = await handle.fetchHistory();
  expect(scheduledKeysOf(history)).toEqual(march(1, 2));
  const [first] = (history.events ?? []).filter(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'replacePartition',
  );
  expect(first?.activityTaskScheduledEventAttributes?.activityId).toBe(`${world.table}/2024-03-01`);
  expect(Buffer.from(first?.userMetadata?.summary?.data ?? '').toString()).toBe('"2024-03-01"');
});

test('memo and search attributes say what, why and who', async () => {
  const world = lab.createWorld({ keys: march(1, 2) });
  const handle = await lab.start(world, [{ ...world.request, reason: 'wrong rates', requestedBy: 'ada' }]);
  const { planId } = (await handle.result()) as { planId: string };
  const { memo, typedSearchAttributes } = await handle.describe();
  const { table, from, to } = world.request;
  expect(memo).toEqual({
    planId,
    table,
    from,
    to,
    request: canonicalRequest({ table, from, to }),
    reason: 'wrong rates',
    requestedBy: 'ada',
  });
  const attributes = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
  expect(Object.fromEntries(attributes)).toMatchObject({
    [searchAttributes.table.name]: table,
    [searchAttributes.state.name]: 'completed',
    [searchAttributes.from.name]: from,
    [searchAttributes.to.name]: to,
  });
});

test('a run goes on without search attributes where there are none', async () => {
  const world = lab.createWorld({ keys: march(1, 2), hasSearchAttributes: false });
  const handle = await lab.start(world);
  expect(await handle.result()).toMatchObject({ partitions: 2 });
  const { memo, typedSearchAttributes } = await handle.describe();
  expect(memo).toMatchObject({ table: world.table });
  const names = typedSearchAttributes.getAll().map(({ key }) => key.name);
  expect(names.filter((name) => name.startsWith('Backfill'))).toEqual([]);
});

test('a plan without partitions completes', async () => {
  const world = lab.createWorld({ keys: [] });
  expect(await (await lab.start(world)).result()).toMatchObject({ partitions: 0, rowsAfter: 0 });
  expect(world.calls).not.toContain('replacePartition');
});

test('partitions that an earlier execution wrote are not written again', async () => {
  const world = lab.createWorld({ keys: march(1, 4), done: ['2024-03-01', '2024-03-03'] });
  expect(await (await lab.start(world)).result()).toMatchObject({ partitions: 4 });
  expect(world.calls.filter((call) => call.startsWith('replacePartition'))).toEqual([
    'replacePartition 2024-03-02',
    'replacePartition 2024-03-04',
  ]);
});

test('a last read that finds other rows fails the run, and names the keys', async () => {
  const differences = [
    { key: '2024-03-02', rowsRecorded: 90, rowsFound: 89, rowsOfOthers: 0 },
    { key: '2024-03-03', rowsRecorded: 90, rowsFound: 0, rowsOfOthers: 0 },
  ];
  const world = lab.createWorld({ keys: march(1, 3), differences });
  const handle = await lab.start(world);
  const failure = await failureOf(handle);
  expect(failure).toMatchObject({ status: 'FAILED', type: 'VerificationFailed', details: { count: 2, differences } });
  expect(failure.message).toContain('2024-03-02 (89 rows, recorded 90), 2024-03-03 (0 rows, recorded 90)');
  expect(world.calls.at(-1)).toBe('closeRun failed');
});

test('statistics that cannot be refreshed do not fail the run', async () => {
  const refused = () => Promise.reject(new BackfillError({ type: FailureType.SqlFailed, message: 'no right' }));
  const world = lab.createWorld({ keys: march(1, 1), instead: () => ({ refreshStatistics: refused }) });
  expect(await (await lab.start(world)).result()).toMatchObject({ partitions: 1 });
});

test.each([
  FailureType.InvalidRequest,
  FailureType.UnknownTable,
  FailureType.PlanDrift,
  FailureType.Overlap,
  FailureType.LedgerOutdated,
])('a run that is refused as %s when it is planned or opened ends so, and writes nothing', async (type) => {
  for (const activity of ['makePlan', 'openRun'] as const) {
    const sample = ['2024-03-03: written since'];
    const refuse = () => Promise.reject(new BackfillError({ type, message: `no, because ${type}`, sample }));
    const world = lab.createWorld({ keys: march(1, 3), instead: () => ({ [activity]: refuse }) });
    const failure = await failureOf(await lab.start(world));
    expect(failure).toEqual({
      status: 'FAILED',
      type,
      message: `no, because ${type}`,
      details: { type, message: `no, because ${type}`, sample },
    });
    expect(world.calls).toEqual(activity === 'makePlan' ? [] : ['makePlan']);
  }
});

test.each([
  [[], 'The request is null'],
  [[null], 'The request is null'],
  [['x'], 'The request is "x"'],
  [[{}], 'request.table is missing'],
  [[{ table: 'fact', from: '2024-03-01', to: '2024-03-02', tabel: 'x' }], 'request.tabel is "x"'],
  [[[1, 2]], 'The request is [1,2]'],
])('C26 the input %j ends the run as failed', async (input, message) => {
  const failure = await failureOf(await lab.startWith(...(input as unknown[])));
  expect(failure).toMatchObject({ status: 'FAILED', type: 'InvalidRequest' });
  expect(failure.message).toContain(message);
});

test('what only continue-as-new may hand on is ignored where it comes from outside', async () => {
  const world = lab.createWorld({ keys: march(1, 3) });
  const run = { planId: 'stolen', executionId: 'stolen', table: world.table, options: {}, total: 3, done: 2 };
  const carried = { run, after: 2, done: 2, failures: { count: 0, oldest: null }, startedAt: 0 };
  const handle = await lab.start(world, [world.request, carried]);
  expect(await handle.result()).toMatchObject({ partitions: 3, table: world.table });
  expect(world.calls.slice(0, 3)).toEqual(['makePlan', 'openRun', 'readWorkPage 0']);
  expect([...world.done]).toEqual(march(1, 3));
});

test('an error that no activity foresaw fails the run by its words', async () => {
  const broken = () => Promise.reject(ApplicationFailure.nonRetryable('the disk is made of cheese'));
  const world = lab.createWorld({ keys: march(1, 1), instead: () => ({ makePlan: broken }) });
  const failure = await failureOf(await lab.start(world));
  expect(failure).toMatchObject({ status: 'FAILED', type: 'SqlFailed', message: 'the disk is made of cheese' });
});
