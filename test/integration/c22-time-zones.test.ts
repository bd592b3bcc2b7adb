import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Plan } from '../../src/domain/plan.js';
import { changedDays } from '../support/changed-days.js';
import { runBackfill, runProgram } from '../support/commands.js';
import { entrances, valueOf } from '../support/entrances.js';
import { FACT, NEW, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { scheduledKeys } from '../support/history.js';
import type { ClientSays } from '../support/run-client.js';
import { startWorkerChild } from '../support/worker-child.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-03' };
const words = ['fact', '--from', request.from, '--to', request.to];
const workflowId = 'backfill/public.fact/2024-03-01..2024-03-03';
const days = march(1, 3);
const config = fileURLToPath(new URL('../fixtures/fact/backfill.config.ts', import.meta.url));
const jiti = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url));
const clientScript = fileURLToPath(new URL('../support/run-client.ts', import.meta.url));

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(FACT, { tables: [factTable()] });
  await harness.stopWorker();
});
afterAll(() => harness.close());

// Each way in has each zone once, and never the worker's: all 64 combinations would take minutes.
const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Tokyo'];
const combinations = zones.map((worker, i) => {
  const other = (n: number) => zones[(i + n) % zones.length];
  return { worker, backfillCli: other(1), client: other(2), temporalCli: other(3) };
});

const title =
  'C22 1 to 3 March stay so: worker in $worker, backfill CLI in $backfillCli, client in $client, Temporal CLI in $temporalCli';

test.each(combinations)(title, async (zone) => {
  const env = { TZ: zone.worker, BACKFILL_LOG_LEVEL: 'DEBUG' };
  const worker = await startWorkerChild(harness, { config, env });
  try {
    await expectRun(() => byBackfillCli(zone.backfillCli));
    await expectRun(() => byClient(zone.client));
    await expectRun(() => byTemporalCli(zone.temporalCli));
  } finally {
    await worker.stop();
  }
  expect(daysIn(worker.log())).toEqual(days);
});

/** Whoever asks: the ledger's last run, and the rows, are of these three days. */
async function expectRun(run: () => Promise<void>): Promise<void> {
  const before = await fingerprints(harness.db);
  await run();
  const after = await fingerprints(harness.db);
  expect(changedDays(before, after)).toEqual(days);
  for (const day of days) expect(after.get(day)).toMatchObject(NEW);
  const { rows } = await harness.db.query<{ key: string }>(
    `select key from backfill.replacement where plan_id = (select plan_id from backfill.run order by opened_at desc limit 1) order by key`,
  );
  expect(rows.map(({ key }) => key)).toEqual(days);
}

async function byBackfillCli(zone: string | undefined): Promise<void> {
  const env = { ...harness.env, TZ: zone };
  const started = await runBackfill(env, 'start', ...words, '--yes');
  expect(started).toMatchObject({ exitCode: 0 });
  expect(daysIn(started.stdout)).toEqual(days);
  const plan = await runBackfill(env, 'plan', ...words, '--json');
  expect(keysOf(JSON.parse(plan.stdout) as Plan)).toEqual(days);
  const status = await runBackfill(env, 'status', workflowId);
  expect(daysIn(status.stdout)).toEqual(['2024-03-01', '2024-03-03']);
  expect(await scheduledKeys(harness.temporal, workflowId)).toEqual(days);
}

async function byClient(zone: string | undefined): Promise<void> {
  const args = [jiti, clientScript, JSON.stringify(request)];
  const ended = await runProgram(process.execPath, args, { ...harness.env, TZ: zone });
  expect(ended.stderr).toBe('');
  const { plan, result, progress, run } = JSON.parse(ended.stdout) as ClientSays;
  expect(keysOf(plan)).toEqual(days);
  expect(result).toMatchObject({ from: '2024-03-01', to: '2024-03-03', partitions: 3 });
  expect(progress.page).toEqual(days.map((key) => ({ key, state: 'done' })));
  expect(run?.replacements.map(({ key }) => key)).toEqual(days);
  expect(daysIn(ended.stdout)).toEqual(days);
}

async function byTemporalCli(zone: string | undefined): Promise<void> {
  const [temporalCli] = entrances;
  if (!temporalCli) throw new Error('There is no such way in');
  const there = { ...harness, env: { ...harness.env, TZ: zone } };
  expect(keysOf(valueOf(await temporalCli.plan(there, request)))).toEqual(days);
  const result = valueOf(await temporalCli.run(there, request));
  expect(result).toMatchObject({ from: '2024-03-01', to: '2024-03-03', partitions: 3 });
}

function keysOf({ partitions }: Plan): string[] {
  return partitions.map(({ key }) => key);
}

/** Every day of 2024 that a text names. The tests' own clock is years later. */
function daysIn(text: string): string[] {
  return [...new Set(text.match(/\b2024-\d\d-\d\d/g))].sort();
}
