import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { BackfillHandle } from '../../src/client/backfill-handle.js';
import { changedDays } from '../support/changed-days.js';
import { runTemporal } from '../support/commands.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { statusOf, terminateOpenRuns } from '../support/history.js';
import { replacedKeys, runState } from '../support/ledger.js';
import { untilAtGate } from '../support/sessions.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };
const DUPLICATE = `insert into src values ('2024-03-06', 1, 9)`;
const REPAIR = `delete from src where day = '2024-03-06' and amount = 9`;
const CAUSE = { type: 'SqlFailed', sqlstate: '23505' };

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(GATED_FACT, { tables: [gatedFact()] });
});
beforeEach(() => resetFact(harness.db));
afterEach(() => terminateOpenRuns(harness.temporal));
afterAll(() => harness.close());

test('a failed run that is reset to before its failed day goes on there, as the same run', async () => {
  const { db, client } = harness;
  const { run, planId } = await failAtDaySix();
  const between = await fingerprints(db);
  await db.query(REPAIR);
  await reset(run.workflowId, await beforeDay(run.workflowId, '2024-03-06'));

  expect(await client.get(run.workflowId).result()).toMatchObject({ planId, partitions: 10 });
  const after = await fingerprints(db);
  expect(changedDays(between, after)).toEqual(march(6, 10));
  for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);
  expect(await replacedKeys(db, planId)).toEqual(march(1, 10));
  expect(await runState(db, planId)).toBe('completed');
});

test('reset without a repair it fails again, of what is wrong and not of having been closed', async () => {
  const { db, client } = harness;
  const { run, planId } = await failAtDaySix();
  const between = await fingerprints(db);
  await reset(run.workflowId, await beforeDay(run.workflowId, '2024-03-06'));

  await expect(client.get(run.workflowId).result()).rejects.toMatchObject({
    name: 'PartitionFailed',
    key: '2024-03-06',
    failure: CAUSE,
    done: 5,
  });
  expect(changedDays(between, await fingerprints(db))).toEqual([]);
  expect(await runState(db, planId)).toBe('failed');
  const { failures } = await client.readFailures(planId);
  expect(failures).toMatchObject([{ key: '2024-03-06', ...CAUSE }]);
});

test('a run that is reset twice goes on twice', async () => {
  const { db, client } = harness;
  await db.query(`insert into src values ('2024-03-08', 1, 9)`);
  const { run, planId } = await failAtDaySix();
  await db.query(REPAIR);
  await reset(run.workflowId, await beforeDay(run.workflowId, '2024-03-06'));
  await expect(client.get(run.workflowId).result()).rejects.toMatchObject({ key: '2024-03-08', failure: CAUSE });
  await db.query(`delete from src where day = '2024-03-08' and amount = 9`);
  await reset(run.workflowId, await beforeDay(run.workflowId, '2024-03-08'));

  expect(await client.get(run.workflowId).result()).toMatchObject({ planId, partitions: 10 });
  expect(await replacedKeys(db, planId)).toEqual(march(1, 10));
  expect(await runState(db, planId)).toBe('completed');
});

test('a run whose last read failed is completed by a reset to before it, where nothing is wrong any more', async () => {
  const { db, client } = harness;
  await closeGate(db, '2024-03-10');
  const run = await client.start(request);
  const { planId } = await untilAtGate(db, '2024-03-10');
  const lost = `from backfill.replacement where plan_id = '${planId}' and key = '2024-03-03'`;
  await db.query(`create table lost as select * ${lost}; delete ${lost}`);
  await openGate(db, '2024-03-10');
  await expect(run.result()).rejects.toMatchObject({ name: 'VerificationFailed' });
  expect(await runState(db, planId)).toBe('failed');
  const between = await fingerprints(db);
  await db.query('insert into backfill.replacement select * from lost');
  await reset(run.workflowId, await before(run.workflowId, ({ activityType }) => activityType?.name === 'verifyPage'));

  expect(await client.get(run.workflowId).result()).toMatchObject({ planId, partitions: 10 });
  expect(changedDays(between, await fingerprints(db))).toEqual([]);
  expect(await runState(db, planId)).toBe('completed');
});

test('a run that is reset while another has the range is refused, names it, and keeps the true cause', async () => {
  const { db, client } = harness;
  const { run, planId } = await failAtDaySix();
  await db.query(REPAIR);
  await closeGate(db, '2024-03-09');
  const other = await client.start({ ...request, from: '2024-03-09' });
  await untilAtGate(db, '2024-03-09');
  const between = await fingerprints(db);
  await reset(run.workflowId, await beforeDay(run.workflowId, '2024-03-06'));

  await expect(client.get(run.workflowId).result()).rejects.toMatchObject({
    name: 'BackfillRefused',
    type: 'Overlap',
    message: expect.stringContaining(other.workflowId),
  });
  expect(changedDays(between, await fingerprints(db))).toEqual([]);
  expect(await runState(db, planId)).toBe('failed');
  expect((await client.readFailures(planId)).failures).toMatchObject([{ key: '2024-03-06', ...CAUSE }]);
  await openGate(db, '2024-03-09');
  await other.result();
});

test('a run that is reset after another wrote its range is refused, and says what has changed', async () => {
  const { db, client } = harness;
  const { run, planId } = await failAtDaySix();
  await db.query(REPAIR);
  await (await client.start({ ...request, from: '2024-03-09' })).result();
  const between = await fingerprints(db);
  await reset(run.workflowId, await beforeDay(run.workflowId, '2024-03-06'));

  await expect(client.get(run.workflowId).result()).rejects.toMatchObject({
    name: 'BackfillRefused',
    type: 'PlanDrift',
    message: expect.stringContaining('2024-03-09'),
  });
  expect(changedDays(between, await fingerprints(db))).toEqual([]);
  expect(await runState(db, planId)).toBe('failed');
});

test('an open run that is reset to its beginning plans anew, and gives up what it had before', async () => {
  const { db, client, temporal } = harness;
  await closeGate(db, '2024-03-05');
  const run = await client.start(request);
  const struck = await untilAtGate(db, '2024-03-05');
  const between = await fingerprints(db);
  await reset(run.workflowId, '3');
  const again = await untilAtGate(db, '2024-03-05', struck);
  expect(again.planId).not.toBe(struck.planId);
  await openGate(db, '2024-03-05');

  expect(await client.get(run.workflowId).result()).toMatchObject({ planId: again.planId, partitions: 10 });
  expect(await statusOf(temporal, run.workflowId)).toBe('COMPLETED');
  expect(changedDays(between, await fingerprints(db))).toEqual(march(1, 10));
  expect(await runState(db, struck.planId)).toBe('abandoned');
  expect(await replacedKeys(db, struck.planId)).toEqual(march(1, 4));
});

async function failAtDaySix(): Promise<{ readonly run: BackfillHandle; readonly planId: string }> {
  await harness.db.query(DUPLICATE);
  const run = await harness.client.start(request);
  const error: unknown = await run.result().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'PartitionFailed', key: '2024-03-06', failure: CAUSE });
  return { run, planId: (error as { planId: string }).planId };
}

async function reset(workflowId: string, eventId: string): Promise<void> {
  const args = ['--workflow-id', workflowId, '--event-id', eventId, '--reason', 'test'];
  const ended = await runTemporal(harness.env, 'workflow', 'reset', ...args);
  expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
}

function beforeDay(workflowId: string, key: string): Promise<string> {
  return before(workflowId, ({ activityId }) => activityId?.endsWith(`/${key}`) ?? false);
}

interface Scheduled {
  readonly activityId?: string | null;
  readonly activityType?: { readonly name?: string | null } | null;
}

/** The end of the workflow task that scheduled an activity first: a reset to it takes back that and all after it. */
async function before(workflowId: string, isIt: (scheduled: Scheduled) => boolean): Promise<string> {
  const { events } = await harness.temporal.workflow.getHandle(workflowId).fetchHistory();
  const scheduled = events
    ?.map(({ activityTaskScheduledEventAttributes: attributes }) => attributes)
    .find((attributes) => attributes && isIt(attributes));
  return String(scheduled?.workflowTaskCompletedEventId);
}
