import { afterAll, beforeAll, expect, test } from 'vitest';
import { TASK_QUEUE } from '../../src/contract.js';
import { runBackfill } from '../support/commands.js';
import { type AnyRequest, entrances, execute } from '../support/entrances.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { readTraces } from '../support/traces.js';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(FACT, { tables: [factTable()] });
});
afterAll(() => harness.close());

const good = '"table":"fact","from":"2024-03-01","to":"2024-03-02"';

const inputs = [
  { input: '{}', says: /request\.table is missing.*\n.*request\.from is missing.*\n.*request\.to is missing/ },
  { input: '"x"', says: /The request is "x": expected an object such as \{"table":/ },
  { input: '42', says: /The request is 42: expected an object/ },
  { input: 'null', says: /The request is null: expected an object/ },
  { input: '[]', says: /The request is \[\]: expected an object/ },
  { input: `{${good},"colour":"red"}`, says: /request\.colour is "red": Unknown field/ },
  {
    input: '{"table":"fact","from":"2024-03-02","to":"2024-03-01"}',
    says: /2024-03-01 is before its start 2024-03-02/,
  },
  { input: `{${good},"reason":"a\\u0000b"}`, says: /request\.reason .*NUL/ },
  { input: `{"table":"fact","from":"${'2'.repeat(65)}","to":"2024-03-01"}`, says: /request\.from .*64/ },
  { input: '{"table":"fact","from":"2024-03-01","to":"9999-12-31"}', says: /"9999-12-31" is too late/ },
  { input: `{${good},"concurrency":"many"}`, says: /request\.concurrency is "many"/ },
  { input: '{"plan":"the one of yesterday"}', says: /request\.plan is "the one of yesterday"/ },
  { input: '{"plan":"0f8fad5b-d9cb-469f-a165-70867728950e"}', says: /There is no plan 0f8fad5b/ },
];
const starts = ['backfill', 'plan'].flatMap((type) => inputs.map((one) => ({ type, ...one })));

test.each(starts)('C26 workflow $type with input $input from the Temporal CLI fails at once', async (start) => {
  await expectOneTry({ type: start.type, inputs: [start.input] }, start.says);
});

test('C26 a workflow without any input, or with one too many, fails at once', async () => {
  await expectOneTry({ type: 'backfill', inputs: [] }, /The request is null: expected an object/);
  await expectOneTry({ type: 'backfill', inputs: ['{}', '{"run":{"planId":"x"},"after":0}'] }, /table is missing/);
  await expectOneTry({ type: 'read', inputs: ['{}'] }, /expected \{"what":/);
  for (const what of ['plan', 'run', 'failed']) {
    await expectOneTry({ type: 'read', inputs: [`{"what":"${what}","planId":"it"}`] }, /"it" is no id of a plan/);
  }
});

const cursor = '{"committedAt":"yesterday","key":"2024-03-01","generation":1}';
const anyPlan = '"planId":"0f8fad5b-d9cb-469f-a165-70867728950e"';
test.each([
  { question: '"what":"history","table":42', field: 'table' },
  { question: `"what":"history","table":"fact","before":${cursor}`, field: 'before.committedAt' },
  { question: '"what":"partitions"', field: 'table' },
  { question: '"what":"tables","after":"x"', field: 'after' },
  { question: `"what":"failed",${anyPlan},"after":-1`, field: 'after' },
  { question: '"what":"doctor","workers":"many"', field: 'workers' },
])('C26 the question {$question} is refused for its $field', async ({ question, field }) => {
  await expectOneTry({ type: 'read', inputs: [`{${question}}`] }, new RegExp(`^request\\.${field} is `));
});

test.each(['backfill', 'plan', 'read', 'prune'])(
  'C26 workflow %s with a payload that nobody can read fails at once',
  async (type) => {
    const { temporal, namespace } = harness;
    const workflowId = `unreadable/${type}`;
    const data = new TextEncoder().encode('{');
    for (const encoding of ['json/plain', 'binary/unknown']) {
      const unreadable = { metadata: { encoding: new TextEncoder().encode(encoding) }, data };
      await temporal.workflowService.startWorkflowExecution({
        namespace,
        workflowId,
        requestId: crypto.randomUUID(),
        workflowType: { name: type },
        taskQueue: { name: TASK_QUEUE },
        input: { payloads: [unreadable] },
        memo: { fields: { note: unreadable, table: unreadable } },
      });
      const error: unknown = await temporal.workflow
        .getHandle(workflowId)
        .result()
        .catch((failed: unknown) => failed);
      expect(error).toMatchObject({
        cause: { type: 'InvalidRequest', message: expect.stringContaining('a payload that cannot be read') },
      });
    }
  },
);

test('C26 a run of which nothing can be read is listed all the same, and looked at', async () => {
  const ended = await runBackfill(harness.env, 'list', '--state', 'failed', '--limit', '500', '--json');
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
  const { runs } = JSON.parse(ended.stdout) as { runs: { workflowId: string }[] };
  expect(runs.filter(({ workflowId }) => workflowId === 'unreadable/backfill')).toHaveLength(2);
  const shown = await runBackfill(harness.env, 'status', 'unreadable/backfill', '--json');
  expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
});

/** No task and no activity was tried a second time. */
async function expectOneTry(start: { type: string; inputs: readonly string[] }, says: RegExp): Promise<void> {
  const before = await readTraces(harness);
  const workflowId = `hopeless/${crypto.randomUUID()}`;
  const reply = await execute(harness, { ...start, workflowId });
  const message = expect.stringMatching(says) as string;
  expect(reply).toEqual({ ok: false, type: 'InvalidRequest', message });
  const { events } = await harness.temporal.workflow.getHandle(workflowId).fetchHistory();
  expect(
    events?.filter((event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes),
  ).toEqual([]);
  for (const { activityTaskStartedEventAttributes: started } of events ?? []) expect(started?.attempt ?? 1).toBe(1);
  expect(await readTraces(harness)).toEqual(before);
}

const requests: readonly { readonly request: AnyRequest; readonly says: RegExp }[] = [
  { request: { from: '2024-03-01', to: '2024-03-02' }, says: /table|Name a table/ },
  { request: { table: 'x', from: '2024-03-01', to: '2024-03-02' }, says: /"x" is no table .* it knows: public\.fact/ },
  {
    request: { table: 'fact', from: '2024-03-02', to: '2024-03-01' },
    says: /2024-03-01 is before its start 2024-03-02/,
  },
  { request: { table: 'fact', from: '2024-03-01', to: '2024-03-02', colour: 'red' }, says: /colour/ },
];

test.each(entrances)('C26 hopeless requests are refused, by $name', async (entrance) => {
  const before = await readTraces(harness);
  for (const { request, says } of requests) {
    const message = expect.stringMatching(says) as string;
    expect(await entrance.run(harness, request)).toMatchObject({ ok: false, message });
  }
  expect(await readTraces(harness)).toEqual(before);
});

test('C26 the client and the backfill CLI refuse what is no request', async () => {
  const message = expect.stringContaining('expected') as string;
  for (const request of [{}, 'x', null, undefined, 42]) {
    await expect(harness.client.start(request as never)).rejects.toMatchObject({ type: 'InvalidRequest', message });
  }
  for (const words of [[], ['x'], ['fact', '--from', '2024-03-01'], ['fact', '--colour', 'red']]) {
    const ended = await runBackfill(harness.env, 'start', ...words, '--yes');
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/^backfill: /) });
  }
});

test.each([null, undefined])('a request whose plan is %s is one for a new plan', async (plan) => {
  const request = { table: 'fact', from: '2024-03-01', to: '2024-03-02', plan } as never;
  expect(await harness.client.plan(request)).toMatchObject({ refusals: [], counts: { replace: 2 } });
  const run = await harness.client.start(request);
  expect(run.workflowId).toBe('backfill/public.fact/2024-03-01..2024-03-02');
  expect(await run.result()).toMatchObject({ partitions: 2 });
  const byHand = await execute(harness, { type: 'backfill', inputs: [JSON.stringify(request)] });
  expect(byHand).toMatchObject({ ok: true, value: { partitions: 2 } });
});
