import { afterAll, beforeAll, expect, test } from 'vitest';
import { progressQuery } from '../../src/contract.js';
import { march } from '../support/fact.js';
import { until } from '../support/wait.js';
import { type WorkflowLab, createWorkflowLab, failureOf } from '../support/workflow-lab.js';
import { Gate } from '../support/workflow-world.js';

type Handle = Awaited<ReturnType<WorkflowLab['start']>>;

let lab: WorkflowLab;
beforeAll(async () => {
  lab = await createWorkflowLab();
});
afterAll(() => lab.close());

/** What the Web UI shows of a run. */
async function currentDetails(handle: Handle): Promise<string> {
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
}

test('the query and the Web UI follow a run through all its stages', async () => {
  const gates = { plan: new Gate(), write: new Gate(), verify: new Gate() };
  const world = lab.createWorld({
    keys: ['2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02'],
    write: (key) => (key === '2024-03-01' ? gates.write.pass() : undefined),
    instead: ({ own }) => ({
      makePlan: async (input) => {
        await gates.plan.pass();
        return own.makePlan(input);
      },
      verifyPage: async (input) => {
        await gates.verify.pass();
        return own.verifyPage(input);
      },
    }),
  });
  const handle = await lab.start(world);
  const { table, from, to } = world.request;

  await gates.plan.reached;
  const planning = await handle.query(progressQuery);
  expect(planning).toMatchObject({ state: 'planning', planId: null, table, from, to, total: 0, done: 0, page: [] });
  gates.plan.open();

  await gates.write.reached;
  const running = await until('two are done', async () => {
    const progress = await handle.query(progressQuery);
    return progress.done === 2 && progress;
  });
  expect(running).toMatchObject({
    state: 'running',
    total: 4,
    failed: 0,
    writing: ['2024-03-01'],
    oldestFailed: null,
    page: [
      { key: '2024-02-28', state: 'done' },
      { key: '2024-02-29', state: 'done' },
      { key: '2024-03-01', state: 'writing' },
      { key: '2024-03-02', state: 'waiting' },
    ],
  });
  expect(running.rate).toBeGreaterThan(0);
  expect(running.secondsLeft).toBeGreaterThan(0);
  expect(Date.parse(running.startedAt)).toBeLessThanOrEqual(Date.now());
  const details = await currentDetails(handle);
  expect(details).toContain(`**${table}**, 2024-02-28 to 2024-03-02 (both included)`);
  expect(details).toContain('| running | 2 of 4 | 0 | 2024-03-01 |');
  expect(details).toContain('2024-02  ██\n2024-03  ▶·');
  expect(details).toContain(`temporal workflow cancel --workflow-id '${handle.workflowId}'`);
  gates.write.open();

  await gates.verify.reached;
  expect(await handle.query(progressQuery)).toMatchObject({ state: 'verifying', done: 4, writing: [] });
  gates.verify.open();

  await handle.result();
  const completed = await handle.query(progressQuery);
  expect(completed).toMatchObject({ state: 'completed', done: 4, total: 4, secondsLeft: 0 });
  expect(completed.planId).toBe(running.planId);
  expect(await currentDetails(handle)).toContain('Every partition of the plan was read back and found as recorded.');
});

test('a failed run says which, why, and how to go on', async () => {
  const world = lab.createWorld({
    keys: march(1, 3),
    write: (key) => {
      if (key === '2024-03-02') throw Object.assign(new Error('division by zero'), { code: '22012' });
    },
  });
  const handle = await lab.start(world);
  await failureOf(handle);
  expect(await handle.query(progressQuery)).toMatchObject({
    state: 'failed',
    done: 1,
    failed: 1,
    oldestFailed: { key: '2024-03-02', type: 'SqlFailed', message: 'division by zero (SQLSTATE 22012)' },
    page: [{ state: 'done' }, { state: 'failed' }, { state: 'waiting' }],
  });
  const details = await currentDetails(handle);
  expect(details).toContain('2024-03  █✗·');
  expect(details).toContain('Oldest failed: **2024-03-02** (SqlFailed)\n\n> division by zero (SQLSTATE 22012)');
  expect(details).toContain(`backfill retry '${handle.workflowId}'`);
});

test('counts go on through continue-as-new, and the page is the current one', async () => {
  const gate = new Gate();
  const world = lab.createWorld({
    keys: march(1, 6),
    pageSize: 2,
    write: (key) => (key === '2024-03-05' ? gate.pass() : undefined),
  });
  const handle = await lab.start(world);
  await gate.reached;
  const progress = await lab.client.workflow.getHandle(handle.workflowId).query(progressQuery);
  expect(progress).toMatchObject({ state: 'running', total: 6, done: 4, writing: ['2024-03-05'] });
  expect(progress.page.map(({ key }) => key)).toEqual(march(5, 6));
  const started = (await lab.client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId).describe())
    .startTime;
  // Of the first execution, not of the current one.
  expect(Math.abs(Date.parse(progress.startedAt) - started.getTime())).toBeLessThan(1_000);
  gate.open();
  await handle.result();
});

test('the rate is that of this execution: what an earlier one wrote does not count', async () => {
  const gate = new Gate();
  const world = lab.createWorld({ keys: march(1, 5), done: march(1, 3), write: () => gate.pass() });
  const handle = await lab.start(world);
  await gate.reached;
  const progress = await handle.query(progressQuery);
  expect(progress).toMatchObject({ done: 3, total: 5, rate: null, secondsLeft: null });
  expect(progress.page.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'writing', 'waiting']);
  gate.open();
  await handle.result();
});
