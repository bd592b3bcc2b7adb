import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.js';
import { BACKFILL_CLI, runBackfill, runProgram } from '../support/commands.js';
import { type Entrance, entrances, valueOf } from '../support/entrances.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { ORDERS, ORDER_NAME, completeSource, orderTable, readOrders } from '../support/orders.js';
import { readTraces } from '../support/traces.js';
import { startWorkerChild } from '../support/worker-child.js';

const request = { table: ORDER_NAME, from: '2024-03-05', to: '2024-03-06' };
const workflowId = 'backfill/"Sales Ops"."Order"/2024-03-05..2024-03-06';
const done = [
  { day: '2024-03-05', text: 'new' },
  { day: '2024-03-06', text: `it's "new"` },
];

let harness: Harness;
beforeEach(async () => {
  harness = await createHarness(`${FACT} ${ORDERS}`, { tables: [factTable(), orderTable()] });
});
afterEach(() => harness.close());

test.each(entrances)('C20 a table of quoted names is planned, fails, and goes on, by $name', async (entrance) => {
  const plan = valueOf(await entrance.plan(harness, request));
  expect(plan.table).toBe(ORDER_NAME);
  expect(plan.partitions).toMatchObject([
    { key: '2024-03-05', action: 'replace' },
    { key: '2024-03-06', action: 'create' },
  ]);
  const failed = await entrance.run(harness, request);
  expect(failed).toMatchObject({ ok: false, type: 'PartitionFailed' });
  expect(await readOrders(harness.db)).toEqual(done.slice(0, 1));

  await completeSource(harness.db);
  const { rows } = await harness.db.query<{ id: string }>('select plan_id as id from backfill.run');
  expect(await resume(entrance, rows[0]?.id)).toMatchObject({ partitions: 2 });
  expect(await readOrders(harness.db)).toEqual(done);
  const replaced = await harness.db.query('select key, generation::int from backfill.replacement order by key');
  expect(replaced.rows).toEqual([
    { key: '2024-03-05', generation: 1 },
    { key: '2024-03-06', generation: 1 },
  ]);
});

/** A command line has no request for a stored plan but `start --plan`; each way in has its own. */
async function resume(entrance: Entrance, plan: string | undefined) {
  if (entrance.name !== 'the client') return valueOf(await entrance.run(harness, { plan }));
  const handle = await harness.client.get(workflowId).retry();
  return handle.result();
}

test('C20 the command that a failed run prints goes on with it, in a shell', async () => {
  const failed = await runBackfill(
    harness.env,
    'start',
    ORDER_NAME,
    '--from',
    request.from,
    '--to',
    request.to,
    '--yes',
  );
  expect(failed.exitCode).toBe(1);
  const command = /^ +(backfill retry .*)$/m.exec(failed.stdout)?.[1] ?? '';
  expect(command).toBe(`backfill retry '${workflowId}'`);

  await completeSource(harness.db);
  const script = `backfill() { "${process.execPath}" "${BACKFILL_CLI}" "$@"; }; ${command}`;
  const retried = await runProgram('/bin/sh', ['-c', script], harness.env);
  expect(retried).toMatchObject({ exitCode: 0 });
  expect(await readOrders(harness.db)).toEqual(done);
});

test('C20 the log of the worker names the table and the day', async () => {
  await harness.stopWorker();
  await completeSource(harness.db);
  const config = fileURLToPath(new URL('../fixtures/orders/backfill.config.ts', import.meta.url));
  const worker = await startWorkerChild(harness, { config, env: { BACKFILL_LOG_LEVEL: 'DEBUG' } });
  try {
    const handle = await harness.client.start(request);
    await handle.result();
  } finally {
    await worker.stop();
  }
  const lines = worker.log().trim().split('\n');
  const logged = lines.map((line) => (JSON.parse(line) as { activityId?: string }).activityId);
  expect(logged).toContain(`${ORDER_NAME}/2024-03-06`);
  expect(await readOrders(harness.db)).toEqual(done);
});

const range = { from: '2024-03-05', to: '2024-03-06' };
const attacks = [
  { field: 'table', type: 'UnknownTable', request: { ...range, table: 'fact; drop table src; --' } },
  { field: 'table', type: 'UnknownTable', request: { ...range, table: '"fact"; drop table src; --"' } },
  {
    field: 'from',
    type: 'InvalidRequest',
    request: { ...range, table: 'fact', from: `2024-03-01'); drop table src; --` },
  },
  { field: 'to', type: 'InvalidRequest', request: { ...range, table: 'fact', to: `2024-03-01'); drop table src; --` } },
];

test.each(entrances)('C20 names that attack are refused as unknown, by $name', async (entrance) => {
  const before = await readTraces(harness);
  for (const { field, type, request: attack } of attacks) {
    const message = expect.stringContaining('drop table src; --') as string;
    expect(await entrance.plan(harness, attack), field).toEqual({ ok: false, type, message });
    expect(await entrance.run(harness, attack), field).toEqual({ ok: false, type, message });
  }
  // A zone is the definition's: a request has no such field.
  const zone = { ...range, table: 'fact', timeZone: `UTC'; drop table src; --` };
  expect(await entrance.run(harness, zone)).toMatchObject({ ok: false, message: expect.stringMatching(/time-?zone/i) });
  expect(await readTraces(harness)).toEqual(before);
  expect((await harness.db.query('select from src')).rowCount).toBe(1000);
});

test('C20 a definition with a zone or a name that attacks is no definition', async () => {
  const partitionBy = { column: 'day', grain: 'day', timeZone: `UTC'; drop table src; --` } as const;
  expect(() => parseConfig({ tables: [factTable({ partitionBy })] })).toThrow(/timeZone is .*drop table src.*IANA/);
  expect(() => parseConfig({ tables: [factTable({ name: 'fact; drop table src; --' })] })).toThrow(/tables\[0\]\.name/);

  // A column may have any name; this one is not the table's.
  const column = `day") from src; drop table src; --`;
  await harness.restartWorker({ tables: [factTable({ partitionBy: { ...partitionBy, column, timeZone: 'UTC' } })] });
  const message = expect.stringContaining(
    'public.fact is partitioned by RANGE (day), and has no column "day"") from src',
  ) as string;
  await expect(harness.client.plan({ ...range, table: 'fact' })).rejects.toMatchObject({
    type: 'InvalidRequest',
    message,
  });
  expect((await harness.db.query('select from src')).rowCount).toBe(1000);
});
