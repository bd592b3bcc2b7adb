import { beforeEach, expect, test } from 'vitest';
import { listPartitions } from '../../src/domain/range.js';
import { NEW, fingerprints } from '../support/fact.js';
import { closeGate, openGate } from '../support/gate.js';
import { statusOf } from '../support/history.js';
import { replacements, runState } from '../support/ledger.js';
import { hasSession, runSessions, untilAtGate } from '../support/sessions.js';
import { until } from '../support/wait.js';
import { useGatedFact } from '../support/use-gated-fact.js';

/** F1 with eighty days, of which ten are there: enough for activities that write several. */
const request = { table: 'fact', from: '2024-03-01', to: '2024-05-19' };
const days = listPartitions({ column: 'day', grain: 'day', timeZone: 'UTC' }, request.from, request.to).map(
  ({ key }) => key,
);
const STRUCK = days[49] ?? '';

const { harness, workers } = useGatedFact(null);

beforeEach(async () => {
  await harness.db.query(`
    insert into src select d::date, i, 2.00
      from generate_series(date '2024-03-11', date '${request.to}', interval '1 day') d, generate_series(1,100) i;
    do $$ declare d date; begin
      for d in select generate_series(date '2024-03-11', date '${request.to}', interval '1 day')::date loop
        execute format('create sequence if not exists %I', 'builds of ' || d);
      end loop; end $$;`);
});

test('a worker killed in the middle of a slice: each day before is written once, and it goes on at the struck one', async () => {
  const { db, client } = harness;
  const first = await workers.start();
  const run = await runToGate();
  first.signal('SIGKILL');
  await first.ended;
  const atKill = await fingerprints(db);
  expect([...atKill].filter(([, { sum }]) => sum === NEW.sum).map(([day]) => day)).toEqual(days.slice(0, 49));

  await workers.start();
  await untilAtGate(db, STRUCK, run.struck);
  expect(await hasSession(db, run.struck)).toBe(false);
  await openGate(db, STRUCK);
  expect(await client.get(run.id).result()).toMatchObject({ planId: run.struck.planId, partitions: 80 });
  const rows = await replacements(db, run.struck.planId);
  expect(rows.map(({ key }) => key)).toEqual(days);
  expect(rows.filter(({ attempt }) => attempt > 1).map(({ key }) => key)).toEqual([STRUCK]);
  const after = await fingerprints(db);
  for (const day of days.slice(0, 49)) expect(after.get(day)).toEqual(atKill.get(day));
  expect(await slices(run.id)).toBeGreaterThan(0);
});

test('C14 a cancel in the middle of a slice: those before it stay written, the struck one is as it was', async () => {
  const { db, client, temporal } = harness;
  await workers.start();
  const { id, struck } = await runToGate();
  await client.get(id).cancel();
  await until('the run is cancelled', async () => (await statusOf(temporal, id)) === 'CANCELLED');
  expect(await runSessions(db)).toEqual([]);
  expect((await replacements(db, struck.planId)).map(({ key }) => key)).toEqual(days.slice(0, 49));
  expect(await runState(db, struck.planId)).toBe('cancelled');
  expect((await fingerprints(db)).get(STRUCK)).toBeUndefined();
});

test('a worker told to stop in the middle of a slice ends it within its second, and another goes on behind what is written', async () => {
  const { db, client } = harness;
  const first = await workers.start();
  const { id, struck } = await runToGate();
  first.signal('SIGTERM');
  await until('a worker that stops', () => first.log().includes('STOPPING'));
  await openGate(db, STRUCK);
  expect(await first.ended).toBe('code 0');
  const between = (await replacements(db, struck.planId)).length;
  expect(between).toBeGreaterThanOrEqual(50);
  await workers.start();
  expect(await client.get(id).result()).toMatchObject({ partitions: 80 });
  expect((await replacements(db, struck.planId)).map(({ key, attempt }) => [key, attempt])).toEqual(
    days.map((key) => [key, 1]),
  );
});

async function runToGate() {
  const { db, client } = harness;
  await closeGate(db, STRUCK);
  const { workflowId: id } = await client.start(request);
  return { id, struck: await untilAtGate(db, STRUCK) };
}

async function slices(workflowId: string): Promise<number> {
  const { events } = await harness.temporal.workflow.getHandle(workflowId).fetchHistory();
  const names = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
  return names.filter((name) => name === 'replacePartitions').length;
}
