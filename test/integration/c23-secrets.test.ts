import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { choosePorts } from '../../src/dev/ports.js';
import { BACKFILL_CLI, type Ended, runBackfill, runProgram } from '../support/commands.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { terminateOpenRuns } from '../support/history.js';
import { until } from '../support/wait.js';
import { startWorkerChild } from '../support/worker-child.js';

const SECRET = 'S3cr3t-Pa55';
const config = fileURLToPath(new URL('../fixtures/fact/backfill.config.ts', import.meta.url));
const range = ['fact', '--from', '2024-03-01', '--to', '2024-03-03'];
const request = { table: 'fact', from: '2024-03-01', to: '2024-03-03' };

let harness: Harness;
let role: string;
let good: string;
/** Everything that anybody could read. */
const seen: string[] = [];
beforeAll(async () => {
  harness = await createHarness(FACT, null);
  role = `app_${harness.db.name}`;
  await harness.db.query(`create role ${role} superuser login password '${SECRET}'`);
  good = urlWith({ user: role });
});
afterEach(async () => {
  await terminateOpenRuns(harness.temporal);
  await harness.stopWorker();
});
afterAll(async () => {
  // The copies of what its runs have replaced are its own.
  await harness.db.query(`drop owned by ${role}; drop role ${role}`);
  await harness.close();
});

test('C23 the good one: the password is nowhere', async () => {
  const worker = await startWorkerChild(harness, { config, env: debugging(good) });
  const env = debugging(good);
  const plan = await see(runBackfill(env, 'plan', ...range));
  const started = await see(runBackfill(env, 'start', ...range, '--yes', '--json'));
  const { workflowId, planId } = JSON.parse(started.stdout) as { readonly workflowId: string; readonly planId: string };
  for (const command of ['status', 'watch']) await see(runBackfill(env, command, workflowId));
  await see(runBackfill(env, 'migrate'));
  await see(runBackfill(env, 'migrate', '--print'));
  for (const command of ['doctor', 'tables', 'list']) await see(runBackfill(env, command));
  expect([plan.exitCode, started.exitCode]).toEqual([0, 0]);
  expect((await harness.client.readRun(planId))?.done).toBe(3);
  await worker.stop();
  seen.push(worker.log(), await everyWorkflow(), await ledger());
  expect(worker.log()).toContain('"level":"DEBUG"');
  expectNoSecret();
});

const bad = [
  {
    name: 'the host is unknown',
    url: () => urlWith({ user: role, host: 'nowhere.invalid' }),
    sentence: /^backfill: PostgreSQL cannot be reached \((ENOTFOUND|EAI_AGAIN)\)\n$/,
    failure: /PostgreSQL cannot be reached/,
  },
  {
    name: 'the password is wrong',
    url: () => urlWith({ user: 'postgres' }),
    sentence: /^backfill: password authentication failed for user "postgres" \(SQLSTATE 28P01\)\n$/,
    failure: /password authentication failed/,
  },
];

test.each(bad)('C23 $name: the run and the worker say so without the password', async ({ url, sentence, failure }) => {
  await seeWorkerEnd(url(), sentence);
  const started = await createHarness(
    'select 1',
    { tables: [factTable()] },
    { db: harness.db, workerDatabaseUrl: url() },
  );
  try {
    const handle = await started.temporal.workflow.start('backfill', {
      taskQueue: 'backfill',
      workflowId: 'bad',
      args: [request],
    });
    const told = await until('the run has met the database', async () => {
      const { raw } = await handle.describe();
      const pending = raw.pendingActivities?.map(({ lastFailure }) => lastFailure?.message ?? '').join() ?? '';
      const text = pending || JSON.stringify(historyToJSON(await handle.fetchHistory()));
      seen.push(JSON.stringify(raw), text);
      return failure.test(text) && text;
    });
    expect(told).toMatch(failure);
    const env = { ...started.env, ...debugging(url()), TEMPORAL_NAMESPACE: started.namespace };
    await see(runBackfill(env, 'status', 'bad'));
    for (const command of ['migrate', 'doctor']) await see(runBackfill(env, command));
    await handle.cancel();
    await handle.result().catch((error: unknown) => seen.push(JSON.stringify(error), deeply(error)));
    await see(runBackfill(env, 'status', 'bad', '--json'));
    seen.push(await everyWorkflow(started));
  } finally {
    await started.stopWorker();
  }
  expectNoSecret();
});

test('C23 the URL is malformed: worker and commands say so without it', async () => {
  const malformed = `postgres://app:${SECRET}@[db/x`;
  const sentence =
    /^backfill: The database URL is malformed; it must look like postgres:\/\/user:password@host:5432\/name\n$/;
  await seeWorkerEnd(malformed, sentence);
  expect((await see(runBackfill(debugging(malformed), 'migrate'))).exitCode).toBe(2);
  expect((await see(runBackfill(debugging(malformed), 'plan', ...range, '--json'))).exitCode).toBe(2);
  expectNoSecret();
});

test.each([
  ['misspelt', `{ database: { ulr: 'postgres://app:${SECRET}@host/x' }, tables: [] }`],
  ['of the wrong type', `{ database: { url: ['postgres://app:${SECRET}@host/x'] }, tables: [] }`],
  ['parsed by the file itself', `{ database: { url: new URL('postgres://app:${SECRET}@[db/x').href }, tables: [] }`],
])('C23 a URL in the config file, %s: the worker says so without it', async (_name, text) => {
  const folder = mkdtempSync(join(tmpdir(), 'backfill-secrets-'));
  try {
    const file = join(folder, 'backfill.config.mjs');
    writeFileSync(file, `export default ${text};`);
    const ended = await see(runBackfill({ ...harness.env, BACKFILL_CONFIG: file, DATABASE_URL: '' }, 'worker'));
    expect(ended.exitCode).toBe(2);
    expectNoSecret();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Needs to be encoded in a URL: neither that form nor the plain one may be seen. */
const ODD = 'p@ss/w%rd:#?S3cr3t';

test('C23 a password that a URL holds in encoded form: not in log, doctor, probes and metrics, in neither form', async () => {
  await harness.db.query(`alter role ${role} password '${ODD}'`);
  const url = new URL(good);
  url.password = encodeURIComponent(ODD);
  const [port = 0] = await choosePorts([undefined]);
  const env = { ...debugging(url.href), BACKFILL_HTTP: String(port) };
  const worker = await startWorkerChild(harness, { config, env });
  try {
    for (const args of [
      ['doctor', '--json'],
      ['doctor', 'fact', '--json'],
      ['tables', '--json'],
      ['list', '--json'],
    ]) {
      await see(runBackfill(env, ...args));
    }
    await see(runBackfill(env, 'start', ...range, '--yes', '--json'));
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      expect(answer.status).toBe(200);
      seen.push(await answer.text());
    }
    // From here on the database refuses us.
    await harness.db.query(`alter role ${role} nologin`);
    await harness.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and datname = current_database()`,
      [role],
    );
    const refused = await until('the probe notices', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      return answer.status === 503 && answer.text();
    });
    seen.push(refused);
    await see(runBackfill(env, 'doctor', '--json'));
    await see(runBackfill(env, 'migrate'));
    await see(runBackfill({ ...env, BACKFILL_HTTP: '' }, 'worker'));
  } finally {
    await worker.stop();
    await harness.db.query(`alter role ${role} login password '${SECRET}'`);
  }
  seen.push(worker.log(), await everyWorkflow(), await ledger());
  expectNoSecret();
});

test.each([
  ['of a broken encoding', `postgres://app:${SECRET}%zz@127.0.0.1:1/x`],
  ['of a query', `postgres://app@127.0.0.1:1/x?password=${SECRET}`],
  ['without its scheme', `app:${SECRET}@127.0.0.1:1/x`],
  ['of another scheme', `mysql://app:${SECRET}@127.0.0.1:1/x`],
  ['of a file that is not there', `postgres://app:${SECRET}@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/nowhere`],
])('C23 a URL %s: worker and migrate say so without it', async (_, url) => {
  const ended = [await see(runBackfill(debugging(url), 'worker')), await see(runBackfill(debugging(url), 'migrate'))];
  for (const { exitCode, stderr } of ended) {
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/^backfill: /);
  }
  expectNoSecret();
});

test('C23 PGPASSWORD, where the URL holds none: not seen where it is wrong', async () => {
  const url = new URL(good);
  url.password = '';
  const env = { ...debugging(url.href), PGPASSWORD: `${SECRET}-wrong` };
  for (const command of ['worker', 'migrate']) {
    expect((await see(runBackfill(env, command))).stderr).toMatch(/password authentication failed/);
  }
  expectNoSecret();
});

/** The worker ends by itself, with one sentence, and says it also where all it knows is asked for. */
async function seeWorkerEnd(url: string, sentence: RegExp): Promise<void> {
  const env = { ...harness.env, BACKFILL_CONFIG: config, DATABASE_URL: url };
  const ended = await see(runProgram(process.execPath, [BACKFILL_CLI, 'worker'], env));
  expect(ended.exitCode).not.toBe(0);
  expect(ended).toMatchObject({ stdout: '', stderr: expect.stringMatching(sentence) });
  await see(runProgram(process.execPath, [BACKFILL_CLI, 'worker'], { ...env, ...debugging(url) }));
}

function debugging(url: string): NodeJS.ProcessEnv {
  const loud = { BACKFILL_LOG_LEVEL: 'DEBUG', BACKFILL_DEBUG: '1' };
  return { ...harness.env, BACKFILL_CONFIG: config, DATABASE_URL: url, ...loud };
}

function urlWith({ user, host }: { readonly user: string; readonly host?: string }): string {
  const url = new URL(harness.db.url);
  url.username = user;
  url.password = SECRET;
  if (host !== undefined) url.hostname = host;
  return url.href;
}

async function see(ending: Promise<Ended>): Promise<Ended> {
  const ended = await ending;
  seen.push(ended.stdout, ended.stderr);
  return ended;
}

/** Input, result, memo, summaries, failures: all events of all executions, and how Temporal describes them. */
async function everyWorkflow({ temporal }: Harness = harness): Promise<string> {
  const texts: string[] = [];
  for await (const { workflowId, runId } of temporal.workflow.list()) {
    const handle = temporal.workflow.getHandle(workflowId, runId);
    const { raw, memo } = await handle.describe();
    const history = historyToJSON(await handle.fetchHistory());
    // Payloads are in base64 in the events.
    const payloads = [...history.matchAll(/"data": ?"([^"]+)"/g)].map(([, data]) => Buffer.from(data ?? '', 'base64'));
    texts.push(workflowId, JSON.stringify(raw), JSON.stringify(memo), history, ...payloads.map(String));
  }
  expect(texts.length).toBeGreaterThan(0);
  return texts.join('\n');
}

/** Every row of every table of the ledger as text: saved plans, runs, failures. */
async function ledger(): Promise<string> {
  const tables = await harness.db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'backfill'`,
  );
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await harness.db.query<{ row: string }>(`select t::text as row from ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  expect(texts.length).toBeGreaterThan(5);
  return texts.join('\n');
}

/** An error with all that hangs on it. */
function deeply(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.stack, JSON.stringify(error), deeply(error.cause)].join('\n');
}

function expectNoSecret(): void {
  const all = seen.join('\n');
  expect(all.length).toBeGreaterThan(100);
  for (const secret of [SECRET, ODD, encodeURIComponent(ODD)]) {
    const at = all.indexOf(secret);
    expect(at === -1 ? '' : all.slice(Math.max(0, at - 300), at + 100)).toBe('');
  }
  expect(all.includes(Buffer.from(SECRET).toString('base64').slice(0, 12))).toBe(false);
}
