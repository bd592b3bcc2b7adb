import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BackfillClient } from '../../src/client/backfill-client.js';
import { printMigrations } from '../../src/postgres/migrate.js';
import { runBackfill, runTemporal } from '../support/commands.js';
import { FACT, NEW, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { dumpSchema } from '../support/schema-dump.js';
import { type WorkerChild, startWorkerChild } from '../support/worker-child.js';

const SCHEMA = 'Back "fill';
const QUOTED = '"Back ""fill"';
const QUEUE = 'an own queue';
const config = fileURLToPath(new URL('../fixtures/fact/backfill.config.ts', import.meta.url));
const range = (from: number, to: number) => ['--from', march(from, from)[0] ?? '', '--to', march(to, to)[0] ?? ''];

let harness: Harness;
let worker: WorkerChild;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  // The namespace is one of this file alone, too.
  harness = await createHarness(FACT, null);
  await harness.db.query('drop schema backfill cascade');
  env = { ...harness.env, BACKFILL_LEDGER_SCHEMA: SCHEMA, BACKFILL_TASK_QUEUE: QUEUE };
  const migrated = await runBackfill(env, 'migrate');
  expect(migrated).toMatchObject({ exitCode: 0, stdout: 'The ledger is up to date.\n' });
  worker = await startWorkerChild(harness, { config, env });
});
afterAll(async () => {
  await worker.stop();
  await harness.close();
});

test('a whole backfill works with an own ledger schema, task queue and namespace: by the command', async () => {
  const ended = await runBackfill(env, 'start', 'fact', ...range(1, 3), '--yes', '--json');
  expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: 'completed', result: { partitions: 3, rowsAfter: 300 } });
  const days = await fingerprints(harness.db);
  for (const day of march(1, 3)) expect(days.get(day)).toMatchObject(NEW);
  const { rows } = await harness.db.query<{ key: string }>(`select key from ${QUOTED}.replacement order by key`);
  expect(rows.map(({ key }) => key)).toEqual(march(1, 3));
  expect((await harness.db.query(`select from pg_namespace where nspname = 'backfill'`)).rowCount).toBe(0);
});

test('… from code, with a failure, a stray row, a retry and a prune', async () => {
  const client = await BackfillClient.connect({ client: harness.temporal, taskQueue: QUEUE });
  await harness.db.query(`insert into src values ('2024-03-05', 1, 9)`);
  const run = await client.start({ table: 'fact', from: '2024-03-04', to: '2024-03-06' });
  await expect(run.result()).rejects.toMatchObject({ key: '2024-03-05', failure: { sqlstate: '23505' } });
  await harness.db.query(`delete from src where amount = 9`);
  const { planId } = await (await run.retry()).result();
  expect(await client.readRun(planId)).toMatchObject({
    state: 'completed',
    done: 3,
    failures: [{ key: '2024-03-05' }],
  });
  expect(await client.prune({ olderThan: '1 day' })).toMatchObject({ counts: { plans: 0 } });
});

test('… from the Temporal CLI', async () => {
  const args = ['--type', 'backfill', '--task-queue', QUEUE, '--workflow-id', 'by-hand'];
  const input = JSON.stringify({ table: 'fact', from: '2024-03-07', to: '2024-03-08' });
  const ended = await runTemporal(env, 'workflow', 'execute', ...args, '--input', input, '--output', 'json');
  expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'COMPLETED', result: { partitions: 2 } });
});

test('whoever asks on another task queue is told which one has no worker', async () => {
  const ended = await runBackfill({ ...env, BACKFILL_TASK_QUEUE: '' }, 'plan', 'fact', ...range(1, 3));
  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain('No worker answers on task queue backfill');
});

test('the printed SQL makes the same ledger under that name, and leaves the search path as it was', async () => {
  const made = await dumpSchema(harness.db, QUOTED);
  expect(made).toContain(`create table ${QUOTED}.replacement`);
  await harness.db.query(`alter schema ${QUOTED} rename to by_the_command`);
  const printed = await runBackfill(env, 'migrate', '--print');
  expect(printed.stdout).toBe(await printMigrations(SCHEMA));
  expect(printed.stdout).toMatch(/^create schema if not exists "Back ""fill";\nset search_path = "Back ""fill";\n/);
  await harness.db.query(printed.stdout);
  expect(await dumpSchema(harness.db, QUOTED)).toBe(made);
  expect((await harness.db.query('show search_path')).rows).toEqual([{ search_path: '"$user", public' }]);
  await harness.db.query(`drop schema ${QUOTED} cascade; alter schema by_the_command rename to ${QUOTED}`);
});

test('the config file names the schema for the worker and for migrate; the environment comes first', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backfill-own-names-'));
  try {
    const file = join(folder, 'backfill.config.mjs');
    writeFileSync(file, `export default { database: { ledgerSchema: 'from_file' }, tables: [] };`);
    const own = { ...harness.env, BACKFILL_CONFIG: file };
    const refused = await runBackfill(own, 'worker');
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain('There is no ledger in schema "from_file" of this database');
    expect((await runBackfill(own, 'migrate')).exitCode).toBe(0);
    expect((await runBackfill({ ...own, BACKFILL_LEDGER_SCHEMA: 'from_env' }, 'migrate')).exitCode).toBe(0);
    const { rows } = await harness.db.query(`select nspname from pg_namespace where nspname like 'from%' order by 1`);
    expect(rows).toEqual([{ nspname: 'from_env' }, { nspname: 'from_file' }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
