import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sweepScheduleId } from '../../src/contract.js';
import type { SweepResult } from '../../src/domain/sweep.js';
import { changedDays } from '../support/changed-days.js';
import { runBackfill } from '../support/commands.js';
import { execute } from '../support/entrances.js';
import { NEW, OLD, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { statusOf, terminateOpenRuns } from '../support/history.js';
import { copiesOf, rowsOf } from '../support/kept.js';
import { untilAtGate } from '../support/sessions.js';

const range = { table: 'fact', from: '2024-03-03', to: '2024-03-06' };
const DAYS = march(3, 6);

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(GATED_FACT, { tables: [gatedFact()] });
});
beforeEach(async () => {
  await resetFact(harness.db);
  for (const copy of await copiesOf(harness.db)) await harness.db.query(`drop table backfill.${copy}`);
  await harness.db.query('truncate backfill.plan, backfill.partition cascade');
});
afterEach(() => terminateOpenRuns(harness.temporal));
afterAll(() => harness.close());

async function run(options: { readonly concurrency?: number; readonly publish?: 'any-order' } = {}) {
  const handle = await harness.client.start({ ...range, ...options, reason: 'a bug' });
  return { handle, planId: (await handle.result()).planId };
}

test('the client undoes a run, which is a run of its own, and undoes that', async () => {
  const { client, db } = harness;
  const before = await rowsOf(db, 'fact');
  const { handle } = await run();
  const after = await rowsOf(db, 'fact');
  const undo = await handle.undo({ reason: 'the bug was none', requestedBy: 'ada' });
  expect(undo.workflowId).toBe('backfill-undo/public.fact/2024-03-03..2024-03-06');
  expect(await undo.result()).toMatchObject({ partitions: 4, rowsBefore: 400, rowsAfter: 400 });
  expect(await rowsOf(db, 'fact')).toEqual(before);
  const redo = await client.undo((await undo.result()).planId);
  await redo.result();
  expect(await rowsOf(db, 'fact')).toEqual(after);
});

test('the Temporal CLI undoes a run by the id of its plan, and is refused in words', async () => {
  const { planId } = await run();
  const undone = await execute(harness, {
    type: 'backfill',
    inputs: [JSON.stringify({ undo: planId, to: '2024-03-04' })],
  });
  expect(undone).toMatchObject({ ok: true, value: { from: '2024-03-03', to: '2024-03-04', partitions: 2 } });
  const days = await fingerprints(harness.db);
  expect(DAYS.map((day) => days.get(day)?.sum)).toEqual([OLD.sum, OLD.sum, NEW.sum, NEW.sum]);
  for (const [request, message] of [
    [{ undo: 'x' }, 'request.undo is "x": expected the id of the plan'],
    [{ undo: planId, select: 'all' }, 'request.select'],
    [{ undo: randomUUID() }, 'There is no plan'],
    [{ undo: planId, to: '2024-03-5' }, '"2024-03-5"'],
  ] as const) {
    const reply = await execute(harness, { type: 'backfill', inputs: [JSON.stringify(request)] });
    expect(reply).toMatchObject({ ok: false, type: 'InvalidRequest', message: expect.stringContaining(message) });
  }
});

test('the command shows the plan, runs it, and history tells which run was undone by which', async () => {
  const { handle, planId } = await run();
  const shown = await runBackfill(harness.env, 'undo', handle.workflowId, '--plan-only');
  expect(shown).toMatchObject({ exitCode: 0 });
  expect(shown.stdout).toMatch(new RegExp(`undoes +${handle.workflowId}\n +plan ${planId}\n`));
  expect(shown.stdout).toMatch(/kept +what is replaced, about \d+ kB, until 7 days after the run/);
  expect((await fingerprints(harness.db)).get('2024-03-03')).toMatchObject(NEW);
  const done = await runBackfill(harness.env, 'undo', planId, '--from', '2024-03-05', '--to', '2024-03-06', '--yes');
  expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Completed: 2 partitions') });
  expect(done.stdout).toContain('backfill undo backfill-undo/public.fact/2024-03-05..2024-03-06');
  const days = await fingerprints(harness.db);
  expect(DAYS.map((day) => days.get(day)?.sum)).toEqual([NEW.sum, NEW.sum, OLD.sum, OLD.sum]);
  const history = await runBackfill(harness.env, 'history', 'fact');
  expect(history.stdout).toMatch(/undoes +backfill\/public.fact\/2024-03-03..2024-03-06\n/);
  expect(history.stdout).toMatch(/2024-03-05 .* undone by backfill-undo\/public.fact\/2024-03-05..2024-03-06\n/);
  expect(history.stdout).not.toMatch(/2024-03-04 .* undone by/);
  const refused = await runBackfill(harness.env, 'undo', `${handle.workflowId}x`, '--yes');
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`There is no run`) });
});

test('four at a time keep all that they replace', async () => {
  const { db } = harness;
  const before = await rowsOf(db, 'fact');
  const { planId } = await run({ concurrency: 4, publish: 'any-order' });
  expect(await copiesOf(db)).toEqual([`kept_${planId.replaceAll('-', '')}`]);
  await (await harness.client.undo(planId)).result();
  expect(await rowsOf(db, 'fact')).toEqual(before);
});

test('an open run is not undone; once it is cancelled, what it had done is', async () => {
  const { client, db } = harness;
  const before = await fingerprints(db);
  await closeGate(db, '2024-03-05');
  const handle = await client.start(range);
  const { planId } = await untilAtGate(db, '2024-03-05');
  const { refusals } = await client.plan({ undo: planId });
  expect(refusals).toEqual([expect.stringContaining(`${handle.workflowId} is still open: cancel it`)]);
  await handle.cancel();
  await expect(handle.result()).rejects.toThrow();
  await openGate(db, '2024-03-05');
  const undone = await (await client.undo(planId)).result();
  expect(undone).toMatchObject({ partitions: 2 });
  const after = await fingerprints(db);
  expect(changedDays(before, after)).toEqual(march(3, 4));
  for (const day of march(3, 6)) expect(after.get(day)).toMatchObject(OLD);
});

test('a terminated run is undone, too, and its copy is swept once its time is over', async () => {
  const { client, db, temporal } = harness;
  await closeGate(db, '2024-03-05');
  const handle = await client.start(range);
  const { planId } = await untilAtGate(db, '2024-03-05');
  await temporal.workflow.getHandle(handle.workflowId).terminate();
  // Its last attempt is ended by the undo, which takes its claim.
  expect(await (await client.undo(planId)).result()).toMatchObject({ partitions: 2 });
  await openGate(db, '2024-03-05');
  await age(planId);
  expect((await sweep()).dropped.map((one) => one.planId)).toContain(planId);
});

function sweep(): Promise<SweepResult> {
  return harness.temporal.workflow.execute<() => Promise<SweepResult>>('sweep', {
    taskQueue: 'backfill',
    workflowId: `sweep ${randomUUID()}`,
  });
}

/** As if all that a run did had been done eight days earlier. */
async function age(planId: string): Promise<void> {
  const earlier = (table: string, column: string) =>
    harness.db.query(`update backfill.${table} set ${column} = ${column} - interval '8 days' where plan_id = $1`, [
      planId,
    ]);
  await earlier('kept', 'made_at');
  await earlier('replacement', 'committed_at');
}

test('a sweep drops what is overdue by the record of the ledger, and nothing else', async () => {
  const { client, db } = harness;
  const { planId } = await run();
  const { planId: young } = await run();
  const lookalike = `kept_${'0'.repeat(32)}`;
  await db.query(`create table backfill.${lookalike} (backfill_key text)`);
  expect(await sweep()).toEqual({ dropped: [], left: [] });
  await age(planId);
  expect(await sweep()).toMatchObject({
    dropped: [{ planId, table: 'public.fact', bytes: expect.any(Number) }],
    left: [],
  });
  expect(await copiesOf(db)).toEqual([lookalike, `kept_${young.replaceAll('-', '')}`]);
  expect(await sweep()).toEqual({ dropped: [], left: [] });
  // Nothing can be put back now, and the plan of an undo says since when.
  await (await client.undo(young)).result();
  const { refusals } = await client.plan({ undo: planId });
  expect(refusals.join()).toMatch(/was written since by/);
  const { rows } = await db.query(`select kept from backfill.replacement where plan_id = $1`, [planId]);
  expect(rows).toEqual(DAYS.map(() => ({ kept: null })));
});

test('a run whose copy is gone cannot be undone any more', async () => {
  const { planId } = await run();
  await age(planId);
  await sweep();
  const before = await fingerprints(harness.db);
  const refused = await harness.client.undo(planId);
  await expect(refused.result()).rejects.toMatchObject({
    type: 'InvalidRequest',
    message: expect.stringMatching(/was kept until 2\d{3}-.*, and is gone/),
  });
  expect(changedDays(before, await fingerprints(harness.db))).toEqual([]);
});

test('a plan of an undo whose copy went meanwhile is refused when it is started', async () => {
  const { planId } = await run();
  const plan = await harness.client.plan({ undo: planId });
  expect(plan.refusals).toEqual([]);
  await age(planId);
  await sweep();
  const started = await harness.client.start({ plan: plan.planId });
  await expect(started.result()).rejects.toMatchObject({
    type: 'PlanDrift',
    message: expect.stringContaining('is gone'),
  });
});

test('a copy that is being put back stays, and so does one that somebody reads', async () => {
  const { client, db } = harness;
  const { planId } = await run();
  await db.query(`create function hold() returns trigger language plpgsql as $$ begin
      perform pass_gate('trigger'); return new; end $$;
    create trigger holding before insert on fact for each row when (new.id = 50) execute function hold()`);
  await closeGate(db, 'trigger');
  const undo = await client.undo(planId);
  await untilAtGate(db, '2024-03-03');
  await age(planId);
  expect(await sweep()).toEqual({ dropped: [], left: [] });
  await openGate(db, 'trigger');
  await undo.result();
  await db.query('drop function hold cascade');
  expect((await fingerprints(db)).get('2024-03-06')).toMatchObject(OLD);
  const [copy = ''] = await copiesOf(db);
  // A view on it is somebody's own; dropping it was not asked for.
  await db.query(`create view on_copy as select * from backfill.kept_${planId.replaceAll('-', '')}`);
  expect(await sweep()).toMatchObject({
    dropped: [],
    left: [{ planId, why: expect.stringContaining('other objects depend on it') }],
  });
  await db.query('drop view on_copy');
  expect((await sweep()).dropped).toMatchObject([{ planId }]);
  expect(copy).toMatch(/^kept_/);
});

test('prune keeps the record of a copy that is there', async () => {
  const { client, db } = harness;
  const { planId } = await run();
  await run();
  const old = async (table: string, column: string) =>
    db.query(`update backfill.${table} set ${column} = ${column} - interval '100 days'`);
  await old('plan', 'created_at');
  await old('run', 'closed_at');
  await old('replacement', 'committed_at');
  expect(await client.prune({ olderThan: '90 days' })).toMatchObject({ counts: { plans: 0, replacements: 0 } });
  await old('kept', 'made_at');
  await sweep();
  expect(await client.prune({ olderThan: '90 days' })).toMatchObject({
    counts: { plans: 1, runs: 1, replacements: 4 },
  });
  expect((await db.query('select from backfill.kept where plan_id = $1', [planId])).rowCount).toBe(0);
});

test('a worker makes the schedule of the sweep and leaves one that is there; doctor says when it is missing', async () => {
  const { client, temporal } = harness;
  const of = async (check: string) => (await client.doctor()).filter((finding) => finding.check === check);
  const id = sweepScheduleId('backfill');
  const schedule = temporal.schedule.getHandle(id);
  const { spec, action } = await schedule.describe();
  expect(action).toMatchObject({ type: 'startWorkflow', workflowType: 'sweep', taskQueue: 'backfill' });
  expect(spec.timezone).toBe('UTC');
  expect(await of('sweep')).toMatchObject([{ level: 'ok' }]);
  await schedule.pause('not today');
  await harness.restartWorker({ tables: [gatedFact()] });
  expect((await schedule.describe()).state.paused).toBe(true);
  expect(await of('sweep')).toMatchObject([
    { level: 'warning', found: `The schedule ${id} is paused: copies of replaced rows stay` },
  ]);
  await schedule.delete();
  expect(await of('sweep')).toMatchObject([
    { level: 'warning', found: expect.stringContaining(`There is no schedule ${id}`) },
  ]);
  await harness.restartWorker({ tables: [gatedFact()] });
  // What a schedule starts is the workflow that is there to be started.
  await temporal.schedule.getHandle(id).trigger();
  const { planId } = await run();
  await age(planId);
  expect(await of('replaced rows')).toMatchObject([{ level: 'ok' }]);
  await age(planId);
  expect(await of('replaced rows')).toMatchObject([
    { level: 'warning', found: expect.stringMatching(/^1 copies of replaced rows/) },
  ]);
});

test('a retry of a failed undo goes on where it was', async () => {
  const { client, db, temporal } = harness;
  const { planId } = await run();
  await db.query(`create function refuse() returns trigger language plpgsql as $$ begin
      if new.day = '2024-03-05' then raise 'not this day'; end if; return new; end $$;
    create trigger refusing before insert on fact for each row execute function refuse()`);
  const undo = await client.undo(planId);
  await expect(undo.result()).rejects.toMatchObject({ name: 'PartitionFailed', key: '2024-03-05', done: 2 });
  expect((await fingerprints(db)).get('2024-03-05')).toMatchObject(NEW);
  await db.query('drop function refuse cascade');
  expect(await (await undo.retry()).result()).toMatchObject({ partitions: 4 });
  expect(await statusOf(temporal, undo.workflowId)).toBe('COMPLETED');
  for (const day of DAYS) expect((await fingerprints(db)).get(day)).toMatchObject(OLD);
});
