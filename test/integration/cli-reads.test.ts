import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import type { FailureRecord, HistoryCursor } from '../../src/domain/history.js';
import { runBackfill } from '../support/commands.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { terminateOpenRuns } from '../support/history.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-03' };
const table = factTable({ description: 'facts', owner: 'finance' });
const missing = factTable({ name: 'mart.absent' });
/** The same rows, by another build. */
const rebuilt = factTable({
  build: ({ startDate, endDate }) =>
    sql`select day, id, amount + 0 as amount from src where day >= ${startDate} and day < ${endDate}`,
});

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(FACT, { tables: [table, missing] });
});
beforeEach(async () => {
  await harness.db.query(
    'truncate backfill.kept, backfill.plan, backfill.plan_partition, backfill.run, backfill.partition, backfill.replacement, backfill.failure',
  );
  await harness.restartWorker({ tables: [table, missing] });
});
afterEach(() => terminateOpenRuns(harness.temporal));
afterAll(() => harness.close());

async function backfill(more: { readonly from?: string; readonly to?: string; readonly reason?: string } = {}) {
  const handle = await harness.client.start({ ...request, requestedBy: 'ada', ...more });
  return handle.result();
}

test('tables: definition and state of each, what is outdated once the definition is another', async () => {
  await backfill();
  const { tables, next } = await harness.client.readTables();
  expect(next).toBeNull();
  expect(tables).toMatchObject([
    {
      name: 'public.fact',
      description: 'facts',
      owner: 'finance',
      partitioning: { column: 'day', grain: 'day', timeZone: 'UTC' },
      exists: true,
      problem: null,
      partitions: 10,
      firstKey: '2024-03-01',
      lastKey: '2024-03-10',
      counts: { current: 3, outdated: 0, unrecorded: 7, failed: 0, provisional: 0, gone: 0 },
      openRuns: [],
    },
    { name: 'mart.absent', exists: false, problem: 'There is no table mart.absent in the database', partitions: 0 },
  ]);
  await harness.restartWorker({ tables: [rebuilt] });
  await backfill({ from: '2024-03-03', to: '2024-03-04' });
  await harness.db.query('drop table fact_20240301');
  const { stdout, exitCode } = await runBackfill(harness.env, 'tables');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('9, one every day, 2024-03-02 to 2024-03-10');
  expect(stdout).toMatch(/2 current, 1 outdated, 1 written and gone since, 6 never/);
  await harness.db.query(
    `create table fact_20240301 partition of fact for values from ('2024-03-01') to ('2024-03-02')`,
  );
});

test('tables: the open run, by whom', async () => {
  const slow = factTable({
    build: ({ startDate }) => sql`select day, id, amount from src, (select pg_sleep(30)) s where day = ${startDate}`,
  });
  await harness.restartWorker({ tables: [slow] });
  const handle = await harness.client.start({ ...request, requestedBy: 'ada' });
  await expect.poll(() => handle.progress(), { timeout: 20_000 }).toMatchObject({ state: 'running' });
  const { tables } = await harness.client.readTables();
  expect(tables[0]?.openRuns).toMatchObject([
    { workflowId: handle.workflowId, from: request.from, to: request.to, requestedBy: 'ada' },
  ]);
  await handle.cancel();
  await expect(handle.result()).rejects.toMatchObject({ name: 'RunCancelled' });
});

test('history: newest first, who and why, all generations of one key, and what is outdated', async () => {
  const first = await backfill({ reason: 'first' });
  await harness.restartWorker({ tables: [rebuilt] });
  const second = await backfill({ from: '2024-03-02', to: '2024-03-02', reason: 'second' });
  const { entries } = await harness.client.readHistory('fact');
  expect(entries.map(({ key, generation }) => `${key} ${generation}`)).toEqual([
    '2024-03-02 2',
    '2024-03-03 1',
    '2024-03-02 1',
    '2024-03-01 1',
  ]);
  expect(entries[0]).toMatchObject({
    planId: second.planId,
    requestedBy: 'ada',
    reason: 'second',
    rowsBefore: 100,
    rowsAfter: 100,
    isCurrent: true,
    isOutdated: false,
  });
  const ofDay = await harness.client.readHistory('fact', { key: '2024-03-02' });
  expect(ofDay.entries).toMatchObject([
    { generation: 2, isCurrent: true, isOutdated: false },
    { generation: 1, isCurrent: false, isOutdated: true, planId: first.planId },
  ]);
  const { partitions } = await harness.client.readPartitions('fact');
  expect(partitions.map(({ state }) => state).slice(0, 4)).toEqual(['outdated', 'current', 'outdated', 'unrecorded']);
  const { stdout } = await runBackfill(harness.env, 'history', 'fact');
  expect(stdout).toContain('outdated, 2: 2024-03-01, 2024-03-03');
  expect(stdout).toContain('first');
});

test('history and partitions come in pages, without a gap and without an overlap', async () => {
  const { planId } = await backfill();
  await harness.db.query(
    `insert into backfill.partition (table_name, key, generation, plan_id, row_count, build_digest, replaced_at)
     select 'public.fact', (date '2000-01-01' + n)::text, 1, $1, 7, 'old', now() from generate_series(1, 4500) n`,
    [planId],
  );
  await harness.db.query(
    `insert into backfill.replacement (table_name, key, generation, plan_id, action, rows_before, rows_after, build_digest, attempt, started_at)
     select 'public.fact', (date '2000-01-01' + n)::text, 1, $1, 'replace', 7, 7, 'old', 1, now() from generate_series(1, 1500) n`,
    [planId],
  );
  const keys: string[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await harness.client.readPartitions('fact', after === undefined ? {} : { after });
    keys.push(...page.partitions.map(({ key }) => key));
    after = page.next;
  }
  expect(new Set(keys).size).toBe(4510);
  expect(keys).toEqual([...keys].sort());
  const seen: string[] = [];
  for (let before: HistoryCursor | null | undefined; before !== null;) {
    const page = await harness.client.readHistory('fact', before === undefined ? {} : { before });
    seen.push(...page.entries.map(({ key, generation }) => `${key} ${generation}`));
    before = page.next;
  }
  expect(seen).toHaveLength(1503);
  expect(new Set(seen).size).toBe(1503);
});

test('list: by table, state, time and number', async () => {
  const between = new Date();
  await backfill({ to: '2024-03-01' });
  await backfill({ to: '2024-03-02' });
  const listed = async (...flags: string[]) => {
    const { stdout } = await runBackfill(harness.env, 'list', '--json', ...flags);
    return (JSON.parse(stdout) as { runs: { to: string }[] }).runs.map(({ to }) => to);
  };
  const since = between.toISOString().slice(0, 19);
  await expect.poll(() => listed('--since', since)).toEqual(['2024-03-02', '2024-03-01']);
  expect(await listed('--since', since, '--limit', '1', '--table', 'fact', '--state', 'completed')).toEqual([
    '2024-03-02',
  ]);
  expect(await listed('--since', since, '--state', 'running')).toEqual([]);
});

test('a mistyped table or key: did you mean', async () => {
  const plan = await runBackfill(harness.env, 'plan', 'fcat', '--from', '2024-03-01', '--to', '2024-03-02');
  expect(plan.exitCode).toBe(2);
  expect(plan.stderr).toContain('did you mean public.fact?');
  const key = await runBackfill(harness.env, 'history', 'fact', '--key', '2024-3-2');
  expect(key.exitCode).toBe(2);
  expect(key.stderr).toContain('did you mean 2024-03-02?');
  const { stdout } = await runBackfill(harness.env, '__complete', 'plan', 'public.');
  expect(stdout).toBe('public.fact\n');
});

const FAILED = 1_000;
const LONG = 10_000;

test('1,000 failed partitions with 10 kB of text each are all in status --failed, and no answer is too long', async () => {
  const failing = factTable({
    build: ({ startDate }) => sql`select day, id, amount / 0 as amount from src where day = ${startDate}`,
  });
  await harness.restartWorker({ tables: [failing] });
  const handle = await harness.client.start({ ...request, to: request.from });
  await expect(handle.result()).rejects.toMatchObject({ name: 'PartitionFailed' });
  const { planId = '' } = (await handle.describe()) as { planId?: string };
  await harness.db.query(
    `insert into backfill.plan_partition (plan_id, seq, key, action, bytes, generation, provisional)
     select $1, n, (date '2024-03-01' - 1 + n)::text, 'create', 0, 0, false from generate_series(2, $2::int) n`,
    [planId, FAILED],
  );
  await harness.db.query(
    `insert into backfill.failure (plan_id, key, attempt, type, message, info)
     select plan_id, key, 1, 'SqlFailed', 'm', jsonb_build_object('type', 'SqlFailed', 'message', rpad(key || ' ', $2, 'é'), 'sqlstate', 'P0001')
       from backfill.plan_partition where plan_id = $1 and seq > 1`,
    [planId, LONG],
  );
  const all: FailureRecord[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page = await harness.client.readFailures(planId, { after });
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(256 * 1024);
    all.push(...page.failures);
    after = page.next;
  }
  expect(all.map(({ key }) => key)).toHaveLength(FAILED);
  const run = await harness.client.readRun(planId);
  expect(Buffer.byteLength(JSON.stringify(run))).toBeLessThan(256 * 1024);
  const { stdout, exitCode } = await runBackfill(harness.env, 'status', handle.workflowId, '--failed', '--json');
  expect(exitCode).toBe(0);
  const { failures } = JSON.parse(stdout) as { failures: FailureRecord[] };
  expect(failures).toHaveLength(FAILED);
  expect(failures[0]).toMatchObject({ key: '2024-03-01', type: 'SqlFailed', sqlstate: '22012' });
  expect(failures.slice(1).every(({ message }) => message.length === LONG)).toBe(true);
});

test('a long error is cut where it is written, and keeps its SQLSTATE and detail', async () => {
  await harness.db.query(
    `create or replace function raise_long(d date) returns numeric language plpgsql as $$ begin
       raise exception using message = rpad('it is long ', 10000, 'é'), detail = 'what it is about'; end $$`,
  );
  const raising = factTable({
    build: ({ startDate }) => sql`select day, id, raise_long(day) as amount from src where day = ${startDate}`,
  });
  await harness.restartWorker({ tables: [raising] });
  const handle = await harness.client.start(request);
  const error = (await handle.result().catch((reason: unknown) => reason)) as { planId: string; failure: unknown };
  const shown = { type: 'SqlFailed', sqlstate: 'P0001', detail: 'what it is about' };
  expect(error.failure).toMatchObject({ ...shown, message: expect.stringMatching(/^it is long é.*…$/) });
  const { failures } = await harness.client.readFailures(error.planId);
  expect(failures).toMatchObject([{ key: request.from, ...shown }]);
  expect(Buffer.byteLength(JSON.stringify(failures))).toBeLessThan(4096);
});

test('a failure stays in status --failed until its partition is written', async () => {
  await harness.db.query(`insert into src values ('2024-03-02', 1, 9)`);
  const handle = await harness.client.start(request);
  const error = (await handle.result().catch((reason: unknown) => reason)) as { planId: string };
  expect((await harness.client.readFailures(error.planId)).failures.map(({ key }) => key)).toEqual(['2024-03-02']);
  await harness.db.query(`delete from src where day = '2024-03-02' and amount = 9`);
  await (await handle.retry()).result();
  expect((await harness.client.readFailures(error.planId)).failures).toEqual([]);
});
