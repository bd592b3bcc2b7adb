import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { choosePorts } from '../../src/dev/ports.js';
import { runBackfill } from '../support/commands.js';
import { FAULTY_FACT, raising, setFaults } from '../support/faults.js';
import { type Harness, createHarness } from '../support/harness.js';
import { type CommitCutter, startCommitCutter } from '../support/tcp-proxy.js';
import { until } from '../support/wait.js';
import { type WorkerChild, startWorkerChild } from '../support/worker-child.js';

const config = fileURLToPath(new URL('../fixtures/faulty-fact/backfill.config.ts', import.meta.url));

let harness: Harness;
let worker: WorkerChild;
let proxy: CommitCutter;
let port: number;
beforeAll(async () => {
  harness = await createHarness(FAULTY_FACT, null);
  proxy = await startCommitCutter(harness.db.url);
  [port = 0] = await choosePorts([undefined]);
  const env = { BACKFILL_HTTP: String(port), BACKFILL_LOG_LEVEL: 'INFO', DATABASE_URL: proxy.url };
  worker = await startWorkerChild(harness, { config, env });
});
afterAll(async () => {
  await worker.stop();
  await proxy.close();
  await harness.close();
});

test('a worker at work is alive and ready', async () => {
  expect(await ask('/healthz')).toEqual({ status: 200, body: { process: 'ok' } });
  expect(await ask('/readyz')).toEqual({ status: 200, body: { worker: 'ok', database: 'ok', temporal: 'ok' } });
  expect((await ask('/')).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${port}/healthz`, { method: 'POST' })).status).toBe(405);
});

test('metrics and log tell what became of the partitions', async () => {
  await setFaults(harness.db, [
    { day: '2024-03-02', statement: raising('40001'), times: 2 },
    { day: '2024-03-04', statement: 'select 1 / 0', times: 1000 },
  ]);
  const run = await harness.client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-05' });
  const error: unknown = await run.result().catch((failure: unknown) => failure);
  expect(error).toMatchObject({ name: 'PartitionFailed', key: '2024-03-04' });
  const { planId } = error as { readonly planId: string };

  const lines = (await metrics()).filter((line) => line.startsWith('backfill_'));
  const tag = 'table="public.fact"';
  expect(valueOf(lines, 'backfill_partitions_total', tag, 'outcome="replaced"')).toBe(3);
  expect(valueOf(lines, 'backfill_partitions_total', tag, 'outcome="failed"')).toBe(1);
  expect(valueOf(lines, 'backfill_retries_total', tag, 'kind="40001"')).toBe(2);
  expect(valueOf(lines, 'backfill_partitions_in_flight', tag)).toBe(0);
  expect(valueOf(lines, 'backfill_partition_duration_seconds_count', tag)).toBe(3);
  expect(valueOf(lines, 'backfill_partition_rows_sum', tag)).toBe(300);
  expect(valueOf(lines, 'backfill_partition_rows_bucket', tag, 'le="100"')).toBe(3);
  expect(valueOf(lines, 'backfill_partition_rows_bucket', tag, 'le="10"')).toBe(0);
  expect((await metrics()).some((line) => line.startsWith('temporal_worker_task_slots_available'))).toBe(true);

  const logged = await until('all is logged', () => {
    const lines = partitionLines();
    return lines.length >= 4 && lines;
  });
  const common = { planId, table: 'public.fact', workflowId: run.workflowId };
  expect(logged.map(({ level, message, key, attempt }) => [level, message, key, attempt])).toEqual([
    ['INFO', 'Partition replaced', '2024-03-01', 1],
    ['INFO', 'Partition replaced', '2024-03-02', 3],
    ['INFO', 'Partition replaced', '2024-03-03', 1],
    ['WARN', 'Partition failed', '2024-03-04', 1],
  ]);
  for (const line of logged) expect(line).toMatchObject(common);
  expect(logged[0]).toMatchObject({ rowsBefore: 100, rowsAfter: 100, milliseconds: expect.any(Number) });
  expect(logged[3]).toMatchObject({ type: 'SqlFailed', sqlstate: '22012', error: expect.stringContaining('zero') });
});

test('a port that is taken ends the worker with a sentence', async () => {
  const env = { ...harness.env, BACKFILL_CONFIG: config, BACKFILL_HTTP: `127.0.0.1:${port}` };
  const ended = await runBackfill(env, 'worker');
  expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ended.stderr).toBe(
    `backfill: Port ${port} of 127.0.0.1 is taken by another program; name another in BACKFILL_HTTP, or leave it unset to serve no metrics\n`,
  );
});

test('without its database the worker is alive, and not ready', async () => {
  await proxy.close();
  const { status, body } = await until('it notices', async () => {
    const answer = await ask('/readyz');
    return answer.status === 503 && answer;
  });
  expect(status).toBe(503);
  expect(body).toEqual({ worker: 'ok', database: expect.stringMatching(/cannot be reached/), temporal: 'ok' });
  expect((await ask('/healthz')).status).toBe(200);
});

async function ask(path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.json() };
}

function partitionLines(): Record<string, unknown>[] {
  const whole = worker.log().split('\n').slice(0, -1);
  const parsed = whole.map((line) => JSON.parse(line) as Record<string, unknown>);
  return parsed.filter(({ message }) => String(message).startsWith('Partition '));
}

async function metrics(): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  return (await response.text()).split('\n');
}

function valueOf(lines: readonly string[], name: string, ...tags: readonly string[]): number {
  const found = lines.filter((line) => line.startsWith(`${name}{`) && tags.every((tag) => line.includes(tag)));
  if (found.length !== 1) throw new Error(`${name} ${tags.join()}: ${found.length} of\n${lines.join('\n')}`);
  return Number(found[0]?.split(' ').at(-1));
}
