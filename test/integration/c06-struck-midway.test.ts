import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { changedDays } from '../support/changed-days.js';
import { NEW, OLD, fingerprints } from '../support/fact.js';
import { GATED_FACT, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { gatedWorkers } from '../support/gated-worker.js';
import { type Harness, createHarness } from '../support/harness.js';
import { lastAttempt, terminateOpenRuns } from '../support/history.js';
import { replacedKeys } from '../support/ledger.js';
import { untilAtGate } from '../support/sessions.js';

const day = '2024-03-04';
const request = { table: 'fact', from: day, to: day };

/** Divides by null on the last row, when all others are written. */
const raising = gatedFact({
  build: ({ startDate, endDate }) => sql`
    select day, id, amount / (100 - id) * (100 - id) as amount from src where day >= ${startDate} and day < ${endDate}`,
});
/** A millisecond and more for each row. */
const slow = gatedFact({
  build: ({ startDate, endDate }) => sql`
    select day, id, amount from src, lateral (select pg_sleep(0.001 + id * 0)) wait
     where day >= ${startDate} and day < ${endDate}`,
});

let harness: Harness;
const workers = gatedWorkers(() => harness);
beforeAll(async () => {
  harness = await createHarness(GATED_FACT, null);
});
beforeEach(() => resetFact(harness.db));
afterEach(async () => {
  await terminateOpenRuns(harness.temporal);
  await harness.stopWorker();
  await workers.endAll();
});
afterAll(() => harness.close());

test('C06 the transform raises on its last row: the day is wholly old', async () => {
  const { db, client } = harness;
  await harness.restartWorker({ tables: [raising] });
  const before = await fingerprints(db);
  const run = await client.start(request);
  await expect(run.result()).rejects.toMatchObject({ name: 'PartitionFailed', key: day, done: 0 });
  const after = await fingerprints(db);
  expect(after.get(day)).toMatchObject(OLD);
  expect(changedDays(before, after)).toEqual([]);
});

test('C06 the worker gets kill -9: the day is wholly old, and wholly new once another worker has come', async () => {
  const { db, client } = harness;
  const worker = await workers.start();
  const before = await fingerprints(db);
  await closeGate(db, day);
  const run = await client.start(request);
  const struck = await untilAtGate(db, day);
  worker.signal('SIGKILL');
  await worker.ended;
  expect(changedDays(before, await fingerprints(db))).toEqual([]);

  await workers.start();
  await untilAtGate(db, day, struck);
  expect((await fingerprints(db)).get(day)).toMatchObject(OLD);
  await openGate(db, day);
  await run.result();
  expect((await fingerprints(db)).get(day)).toMatchObject(NEW);
  expect(await replacedKeys(db, struck.planId)).toEqual([day]);
});

test('C06 its session gets pg_terminate_backend: the day is wholly old, and wholly new after the next attempt', async () => {
  const { db, client, temporal } = harness;
  await harness.restartWorker({ tables: [gatedFact()] });
  await closeGate(db, day);
  const before = await fingerprints(db);
  const run = await client.start(request);
  const struck = await untilAtGate(db, day);
  await db.query('select pg_terminate_backend($1)', [struck.pid]);
  await untilAtGate(db, day, struck);
  expect(changedDays(before, await fingerprints(db))).toEqual([]);

  await openGate(db, day);
  expect(await run.result()).toMatchObject({ planId: struck.planId, partitions: 1 });
  const after = await fingerprints(db);
  expect(after.get(day)).toMatchObject(NEW);
  expect(changedDays(before, after)).toEqual([day]);
  expect(await lastAttempt(temporal, run.workflowId, day)).toMatchObject({
    attempt: 2,
    lastFailure: expect.stringContaining('57P01'),
  });
});

test('C06 readers during 50 replacements see the old rows or the new ones, and nothing else', async () => {
  const { db, client } = harness;
  await harness.restartWorker({ tables: [slow] });
  const reading = readAllTheTime();
  for (const amount of [2, 1, 2, 1, 2]) {
    await db.query('update src set amount = $1', [amount]);
    await (await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-10' })).result();
  }
  const { pairs, ofTheDay, reads } = await reading.stop();
  expect(reads).toBeGreaterThan(50);
  expect(pairs).toEqual(['100 100.00', '100 200.00']);
  expect(ofTheDay).toEqual(['100 100.00', '100 200.00']);
});

test('C06 a reader with an older snapshot keeps seeing the old day', async () => {
  const { db, client } = harness;
  await harness.restartWorker({ tables: [gatedFact()] });
  const reader = new pg.Client({ connectionString: db.url });
  await reader.connect();
  const read = async () => (await reader.query<object>('select count(*)::int as rows, sum(amount) from fact')).rows[0];
  await reader.query('begin isolation level repeatable read');
  expect(await read()).toEqual({ rows: 1000, sum: '1000.00' });
  await (await client.start(request)).result();
  expect(await read()).toEqual({ rows: 1000, sum: '1000.00' });
  await reader.query('commit');
  expect(await read()).toEqual({ rows: 1000, sum: '1100.00' });
  await reader.end();
});

/** Polls every 20 ms what a day holds: 03-04 alone, and all ten in one query. */
function readAllTheTime() {
  const { db } = harness;
  const [pairs, ofTheDay] = [new Set<string>(), new Set<string>()];
  let isOver = false;
  const reading = (async () => {
    let reads = 0;
    for (; !isOver; reads++) {
      const one = await db.query<{ pair: string }>(
        `select concat_ws(' ', count(*), sum(amount)) as pair from fact where day = $1`,
        [day],
      );
      const all = await db.query<{ pair: string }>(
        `select concat_ws(' ', count(id), sum(amount)) as pair
           from generate_series(date '2024-03-01', date '2024-03-10', interval '1 day') d left join fact on day = d group by d`,
      );
      for (const { pair } of one.rows) ofTheDay.add(pair);
      for (const { pair } of all.rows) pairs.add(pair);
      await sleep(20);
    }
    return { pairs: [...pairs].sort(), ofTheDay: [...ofTheDay].sort(), reads };
  })();
  return {
    stop() {
      isOver = true;
      return reading;
    },
  };
}
