import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { runBackfill, runTemporal } from '../support/commands.js';
import { factTable, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, closeGate, openGate } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { terminateOpenRuns } from '../support/history.js';
import { untilAtGate } from '../support/sessions.js';
import { until } from '../support/wait.js';

const A = { table: 'fact', from: '2024-03-01', to: '2024-03-06', reason: 'A writes twos', requestedBy: 'ann' };
const B = { table: 'fact', from: '2024-03-04', to: '2024-03-08' };
const NAMES_A =
  /public\.fact 2024-03-01 to 2024-03-06 is being written by backfill\/public\.fact\/2024-03-01\.\.2024-03-06, started by ann \(A writes twos\)/;

/** Writes 2.00 at first, and 3.00 once the table `amount` says so. */
const build = factTable({
  build: ({ startDate, endDate, key }) => sql`
    select day, id, (select v from amount_now) as amount from src
     where day >= ${startDate} and day < ${endDate} and (id <> 50 or pass_gate(${key}))`,
});
const other = factTable({ name: 'other' });

let harness: Harness;
beforeAll(async () => {
  const schema = `${GATED_FACT}
    create table amount_now (v numeric(12,2)); insert into amount_now values (2);
    create table other (like fact including defaults) partition by range (day);
    create table other_20240304 partition of other for values from ('2024-03-04') to ('2024-03-05');`;
  harness = await createHarness(schema, { tables: [build, other] });
});
afterAll(() => harness.close());
afterEach(() => terminateOpenRuns(harness.temporal));
beforeEach(async () => {
  // A test that fails leaves its gate closed, and the truncate would wait behind it for ever.
  await harness.db.query('delete from gate');
  await harness.db.query('alter table fact drop constraint if exists fact_pkey');
  await harness.db.query('truncate fact; update amount_now set v = 2');
});

test('C08 an overlapping run is refused by every way in, naming the other, who started it and why', async () => {
  await closeGate(harness.db, '2024-03-02');
  const first = await harness.client.start(A);
  await untilAtGate(harness.db, '2024-03-02');

  await expect((await harness.client.start(B)).result()).rejects.toMatchObject({ type: 'Overlap', message: NAMES_A });
  const cli = await runBackfill(harness.env, 'start', 'fact', '--from', B.from, '--to', B.to, '--yes');
  expect(cli).toMatchObject({ exitCode: 2 });
  expect(`${cli.stdout}${cli.stderr}`.replaceAll(/\s+/g, ' ')).toMatch(NAMES_A);
  const byHand = await byTemporalCli(B);
  expect(byHand.stdout).toContain('is being written by backfill/public.fact/2024-03-01..2024-03-06');
  expect(byHand.stdout).toContain('Overlap');

  await openGate(harness.db, '2024-03-02');
  await first.result();
  expect(await amounts()).toEqual(Object.fromEntries(march(1, 6).map((day) => [day, '100 rows of 2.00'])));
});

test('C08 an overlapping run that waits begins when the other has ended, and no day is mixed', async () => {
  await closeGate(harness.db, '2024-03-05');
  const first = await harness.client.start(A);
  await untilAtGate(harness.db, '2024-03-05');
  const second = await harness.client.start({ ...B, onOverlap: 'wait' });
  const waiting = await until('B to wait', async () => {
    const progress = await second.progress();
    return progress.state === 'waiting' && progress;
  });
  expect(waiting.waitingFor).toMatch(NAMES_A);

  await openGate(harness.db, '2024-03-05');
  await first.result();
  await harness.db.query('update amount_now set v = 3');
  await second.result();
  const expected = [...march(1, 3).map((day) => [day, 2]), ...march(4, 8).map((day) => [day, 3])];
  expect(await amounts()).toEqual(Object.fromEntries(expected.map(([day, v]) => [day, `100 rows of ${v}.00`])));
});

test('C08 a run that waits can be cancelled', async () => {
  await closeGate(harness.db, '2024-03-02');
  const first = await harness.client.start(A);
  await untilAtGate(harness.db, '2024-03-02');
  const second = await harness.client.start({ ...B, onOverlap: 'wait' });
  await until('B to wait', async () => (await second.progress()).state === 'waiting');
  await second.cancel();
  await expect(second.result()).rejects.toMatchObject({ name: 'RunCancelled' });
  await openGate(harness.db, '2024-03-02');
  await first.result();
});

test('C08 disjoint ranges and other tables run side by side', async () => {
  await closeGate(harness.db, '2024-03-02');
  const first = await harness.client.start(A);
  await untilAtGate(harness.db, '2024-03-02');
  await (await harness.client.start({ table: 'fact', from: '2024-03-07', to: '2024-03-08' })).result();
  await (await harness.client.start({ table: 'other', from: '2024-03-04', to: '2024-03-04' })).result();
  await openGate(harness.db, '2024-03-02');
  await first.result();
});

test('C08 the claim of a terminated run is released by asking Temporal', async () => {
  await closeGate(harness.db, '2024-03-02');
  const first = await harness.client.start(A);
  await untilAtGate(harness.db, '2024-03-02');
  await harness.temporal.workflow.getHandle(first.workflowId).terminate();
  await openGate(harness.db, '2024-03-02');
  await (await harness.client.start(B)).result();
  const { rows } = await harness.db.query(
    `select state from backfill.run where workflow_id = $1 order by opened_at desc limit 1`,
    [first.workflowId],
  );
  expect(rows).toEqual([{ state: 'abandoned' }]);
});

test.each([
  { what: 'another Temporal namespace', name: 'elsewhere', id: null },
  { what: 'a namespace of the same name on another server', name: null, id: 'another-id' },
])('C08 a run of $what, of which nobody here can tell whether it is gone, keeps its claim', async ({ name, id }) => {
  const { db, client, namespace } = harness;
  await (await client.start(A)).result();
  const { rows } = await db.query<{ planId: string }>(
    `update backfill.run set state = 'open', closed_at = null, namespace = coalesce($1, namespace), namespace_id = $2
      where plan_id = (select plan_id from backfill.run where state = 'completed' order by opened_at desc limit 1)
      returning plan_id as "planId"`,
    [name, id],
  );
  const place = `in the Temporal namespace ${name ?? namespace} (${id ?? 'its id is not known'}), which is not this worker's`;
  const release = `update "backfill".run set state = 'abandoned', closed_at = now() where plan_id = '${rows[0]?.planId}'`;
  const error: unknown = await (await client.start(B)).result().catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    type: 'Overlap',
    message: expect.stringMatching(/, started by ann.*release the range/),
  });
  expect((error as Error).message).toContain(place);
  expect((error as Error).message.endsWith(release)).toBe(true);
  await db.query(release);
  expect(await (await client.start(B)).result()).toMatchObject({ table: 'public.fact' });
});

test('C08 a run of before the ids of namespaces were recorded loses its claim when it is gone', async () => {
  const { db, client, namespace } = harness;
  await (await client.start(A)).result();
  const { rowCount } = await db.query(
    `update backfill.run set state = 'open', closed_at = null, namespace_id = null
      where namespace = $1 and namespace_id is not null
        and plan_id = (select plan_id from backfill.run where state = 'completed' order by opened_at desc limit 1)`,
    [namespace],
  );
  expect(rowCount).toBe(1);
  expect(await (await client.start(B)).result()).toMatchObject({ table: 'public.fact' });
});

test('C08 of two that start in the same instant one is refused, or both are right', async () => {
  const both = await Promise.all([harness.client.start(A), harness.client.start(B)]);
  const ends = await Promise.allSettled(both.map((run) => run.result()));
  const refused = ends.filter((end) => end.status === 'rejected');
  expect(refused.length).toBeLessThanOrEqual(1);
  for (const { reason } of refused) expect(reason).toMatchObject({ type: 'Overlap' });
  for (const { rows } of (await fingerprints(harness.db)).values()) expect(rows).toBe(100);
});

function byTemporalCli(request: object) {
  const args = ['--type', 'backfill', '--task-queue', 'backfill', '--workflow-id', randomUUID(), '--output', 'json'];
  return runTemporal(harness.env, 'workflow', 'execute', ...args, '--input', JSON.stringify(request));
}

async function amounts(): Promise<Record<string, string>> {
  const { rows } = await harness.db.query<{ day: string; text: string }>(
    `select day, string_agg(n || ' rows of ' || amount, ' and ') as text
       from (select day, amount, count(*) as n from fact group by day, amount) a group by day order by day`,
  );
  return Object.fromEntries(rows.map(({ day, text }) => [day, text]));
}
