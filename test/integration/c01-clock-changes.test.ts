import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { entrances, valueOf } from '../support/entrances.js';
import {
  EVENTS,
  type EventPartition,
  countDifferences,
  dropEventPartitions,
  eventPartitions,
  eventTable,
} from '../support/events.js';
import { type Harness, createHarness } from '../support/harness.js';
import { startWorkerChild } from '../support/worker-child.js';

const spring = { table: 'ev', from: '2024-03-09', to: '2024-03-11' };
const autumn = { table: 'ev', from: '2024-11-02', to: '2024-11-04' };
const config = fileURLToPath(new URL('../fixtures/events/backfill.config.ts', import.meta.url));

const expected: readonly EventPartition[] = [
  { start: '2024-03-09T05:00Z', end: '2024-03-10T05:00Z', rows: 48 },
  { start: '2024-03-10T05:00Z', end: '2024-03-11T04:00Z', rows: 46 },
  { start: '2024-03-11T04:00Z', end: '2024-03-12T04:00Z', rows: 48 },
  { start: '2024-11-02T04:00Z', end: '2024-11-03T04:00Z', rows: 48 },
  { start: '2024-11-03T04:00Z', end: '2024-11-04T05:00Z', rows: 50 },
  { start: '2024-11-04T05:00Z', end: '2024-11-05T05:00Z', rows: 48 },
];

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(EVENTS, { tables: [eventTable()] });
});
afterAll(() => harness.close());
beforeEach(() => dropEventPartitions(harness.db));

async function backfillBoth(): Promise<void> {
  for (const request of [spring, autumn]) {
    const handle = await harness.client.start(request);
    expect(await handle.result()).toMatchObject({ partitions: 3 });
  }
}

test('C01 days of 23 and 25 hours become partitions of their own length', async () => {
  await backfillBoth();
  expect(await eventPartitions(harness.db)).toEqual(expected);
  expect(await countDifferences(harness.db)).toBe(0);
});

test('C01 a partition that a session in another zone has made is found and replaced', async () => {
  await harness.db.query(`begin; set local timezone = 'America/New_York';
    create table ev_by_hand partition of ev for values from ('2024-03-10 00:00') to ('2024-03-11 00:00'); commit`);
  const plan = await harness.client.plan(spring);
  expect(plan.partitions.map(({ key, action }) => [key, action])).toEqual([
    ['2024-03-09', 'create'],
    ['2024-03-10', 'replace'],
    ['2024-03-11', 'create'],
  ]);
  await backfillBoth();
  await backfillBoth();
  expect(await eventPartitions(harness.db)).toEqual(expected);
  expect(await countDifferences(harness.db)).toBe(0);
});

test.each(entrances)('C01 a plan over the 25-hour day lists five different days, by $name', async (entrance) => {
  const plan = valueOf(await entrance.plan(harness, { table: 'ev', from: '2024-11-01', to: '2024-11-05' }));
  expect(plan.partitions.map(({ key }) => key)).toEqual([
    '2024-11-01',
    '2024-11-02',
    '2024-11-03',
    '2024-11-04',
    '2024-11-05',
  ]);
});

const zones = [
  { worker: 'UTC', database: 'America/New_York', role: undefined },
  { worker: 'America/New_York', database: 'UTC', role: 'Asia/Tokyo' },
  { worker: 'Asia/Tokyo', database: 'Europe/Berlin', role: undefined },
  { worker: 'Australia/Lord_Howe', database: 'Asia/Tokyo', role: 'America/New_York' },
] as const;

test.each(zones)('C01 the same with TZ=$worker, a database in $database, a role in $role', async (zone) => {
  await harness.stopWorker();
  const { name } = harness.db;
  await harness.db.query(`alter database ${name} set timezone = '${zone.database}'`);
  // In this database only: the role is the other tests', too.
  const setRole = zone.role === undefined ? 'reset timezone' : `set timezone = '${zone.role}'`;
  await harness.db.query(`alter role current_user in database ${name} ${setRole}`);
  const worker = await startWorkerChild(harness, { config, env: { TZ: zone.worker } });
  try {
    await backfillBoth();
  } finally {
    await worker.stop();
  }
  expect(await eventPartitions(harness.db)).toEqual(expected);
  expect(await countDifferences(harness.db)).toBe(0);
});
