import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { GATED_FACT, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { terminateOpenRuns } from '../support/history.js';
import { runSessions, untilAtGate } from '../support/sessions.js';
import { until } from '../support/wait.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-06' };

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(GATED_FACT, { tables: [gatedFact()] });
});
beforeEach(() => resetFact(harness.db));
afterEach(() => terminateOpenRuns(harness.temporal));
afterAll(() => harness.close());

test('a failed run holds no claim, and its retry is refused while another has the range', async () => {
  const { client, db } = harness;
  await db.query(`insert into src values ('2024-03-03', 1, 9)`);
  const failed = await client.start(request);
  await expect(failed.result()).rejects.toMatchObject({ key: '2024-03-03' });
  await db.query('delete from src where amount = 9');

  await closeGate(db, '2024-03-05');
  const other = await client.start({ table: 'fact', from: '2024-03-05', to: '2024-03-08' });
  await untilAtGate(db, '2024-03-05');
  const again = await failed.retry();
  await expect(again.result()).rejects.toMatchObject({
    type: 'Overlap',
    message: expect.stringContaining('2024-03-08'),
  });
  await openGate(db, '2024-03-05');
  await other.result();
  // What the other wrote is no longer what was planned.
  await expect((await failed.retry()).result()).rejects.toMatchObject({ type: 'PlanDrift' });
  expect(await (await failed.retry({ replan: true })).result()).toMatchObject({ partitions: 4 });
});

test('of many runs that wait for one range, one goes on at a time, and all get it', async () => {
  const { client, db } = harness;
  await closeGate(db, '2024-03-04');
  const first = await client.start(request);
  await untilAtGate(db, '2024-03-04');
  const ranges = [1, 2, 3, 4].map((day) => ({
    table: 'fact',
    from: `2024-03-0${day}`,
    to: '2024-03-08',
    onOverlap: 'wait' as const,
  }));
  const waiting = await Promise.all(ranges.map((range) => client.start(range)));
  for (const run of waiting) await until('a run to wait', async () => (await run.progress()).state === 'waiting');
  expect((await runSessions(db)).map(({ key }) => key)).toEqual(['2024-03-04']);
  await openGate(db, '2024-03-04');
  await first.result();
  const results = await Promise.all(waiting.map((run) => run.result()));
  expect(results.map(({ partitions }) => partitions)).toEqual([8, 7, 6, 5]);
  for (const day of march(1, 8)) expect((await fingerprints(db)).get(day)).toMatchObject(NEW);
  const { rows } = await db.query(
    `select count(*)::int as n from backfill.run a join backfill.run b on a.plan_id < b.plan_id and a.span && b.span
      and tstzrange(a.opened_at, a.closed_at) && tstzrange(b.opened_at, b.closed_at)`,
  );
  expect(rows).toEqual([{ n: 0 }]);
});

test('one plan started twice at once is run by one, and the other is told which', async () => {
  const { client, db } = harness;
  const { planId } = await client.plan(request);
  await closeGate(db, '2024-03-04');
  const both = await Promise.all(['one', 'two'].map((workflowId) => client.start({ plan: planId }, { workflowId })));
  const ends = both.map((run) =>
    run.result().then(
      () => 'completed',
      (error: unknown) => (error as { type: string }).type,
    ),
  );
  await untilAtGate(db, '2024-03-04');
  await openGate(db, '2024-03-04');
  expect((await Promise.all(ends)).sort()).toEqual(['Overlap', 'completed']);
});
