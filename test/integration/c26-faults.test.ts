import { afterEach, beforeEach, expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { FAULTY_FACT, countAttempts, faultyTable, raising, setFaults } from '../support/faults.js';
import { type Harness, createHarness } from '../support/harness.js';
import { lastAttempt } from '../support/history.js';

const SLOTS = 2;
const whole = { table: 'fact', from: '2024-03-01', to: '2024-03-10', concurrency: 5, publish: 'any-order' } as const;

let harness: Harness;
beforeEach(async () => {
  harness = await createHarness(FAULTY_FACT, { tables: [faultyTable()], slots: SLOTS });
});
afterEach(() => harness.close());

/** The first three in the build's own statement, as a function may meet them long after the plan was made. */
const permanent = [
  { day: '2024-03-01', sqlstate: '42703', statement: 'select nowhere from src' },
  { day: '2024-03-02', sqlstate: '42P01', statement: 'select from nowhere' },
  { day: '2024-03-03', sqlstate: '42601', statement: 'selec 1' },
  { day: '2024-03-04', sqlstate: '23505', statement: 'select 1' },
  { day: '2024-03-05', sqlstate: '23514', statement: 'select 1' },
];

test('C26 a permanent error stops its day after one attempt', async () => {
  await harness.db.query(`insert into src values ('2024-03-04', 1, 2); alter table fact add check (amount < 5);
    update src set amount = 9 where day = '2024-03-05' and id = 100`);
  await setFaults(
    harness.db,
    permanent.map(({ day, statement }) => ({ day, statement, times: 1000 })),
  );
  const before = await fingerprints(harness.db);
  const handle = await harness.client.start({ ...whole, onFailure: 'continue' });
  const failure = { type: 'SqlFailed', sqlstate: '42703' };
  await expect(handle.result()).rejects.toMatchObject({ key: '2024-03-01', failed: 5, done: 5, total: 10, failure });

  expect(changedDays(before, await fingerprints(harness.db))).toEqual(march(6, 10));
  for (const { day } of permanent) {
    expect(await lastAttempt(harness.temporal, handle.workflowId, day)).toMatchObject({ attempt: 1 });
    expect(await countAttempts(harness.db, day)).toBe(1);
  }
  const recorded = await harness.db.query<{ day: string; sqlstate: string }>(
    `select key as day, info ->> 'sqlstate' as sqlstate from backfill.failure order by key`,
  );
  expect(recorded.rows).toEqual(permanent.map(({ day, sqlstate }) => ({ day, sqlstate })));
});

const transient = [
  { day: '2024-03-01', sqlstate: '40001', statement: raising('40001') },
  { day: '2024-03-02', sqlstate: '40P01', statement: raising('40P01') },
  { day: '2024-03-03', sqlstate: '55P03', statement: raising('55P03') },
  { day: '2024-03-04', sqlstate: '57P01', statement: 'select pg_terminate_backend(pg_backend_pid())' },
  { day: '2024-03-05', sqlstate: '08006', statement: raising('08006') },
];

test('C26 a transient error is tried again after growing waits, within the connections of the pool', async () => {
  await setFaults(
    harness.db,
    transient.map(({ day, statement }) => ({ day, statement, times: 2 })),
  );
  const handle = await harness.client.start(whole);
  const { result, waits, mostConnections } = await watch(handle.workflowId, handle.result());
  expect(result).toMatchObject({ partitions: 10, rowsAfter: 1000 });
  for (const { day, sqlstate } of transient) {
    const lastFailure = expect.stringContaining(sqlstate) as string;
    expect(await lastAttempt(harness.temporal, handle.workflowId, day)).toEqual({ attempt: 3, lastFailure });
    expect(await countAttempts(harness.db, day)).toBe(3);
    expect(waits.get(day), day).toEqual(
      new Map([
        [2, 1],
        [3, 2],
      ]),
    );
  }
  for (const fingerprint of (await fingerprints(harness.db)).values()) expect(fingerprint).toMatchObject(NEW);
  // All of the pool was in use; one more is the connection that stops queries.
  expect(mostConnections).toBeGreaterThanOrEqual(SLOTS);
  expect(mostConnections).toBeLessThanOrEqual(SLOTS + 1);
});

/** Looks at a run until it has ended: seconds waited before each attempt of each day, and connections of the worker. */
async function watch<T>(workflowId: string, end: Promise<T>) {
  const waits = new Map<string, Map<number, number>>();
  let mostConnections = 0;
  let isOver = false;
  const ended = end.finally(() => (isOver = true));
  while (!isOver) {
    mostConnections = Math.max(mostConnections, await countConnections());
    const { raw } = await harness.temporal.workflow.getHandle(workflowId).describe();
    for (const { activityId, attempt, currentRetryInterval } of raw.pendingActivities ?? []) {
      const day = activityId?.split('/').at(-1) ?? '';
      if (!currentRetryInterval || !attempt) continue;
      waits.set(day, (waits.get(day) ?? new Map<number, number>()).set(attempt, Number(currentRetryInterval.seconds)));
    }
  }
  return { result: await ended, waits, mostConnections };
}

async function countConnections(): Promise<number> {
  const { rows } = await harness.db.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and (application_name like 'backfill%' or application_name like 'bf:%')`,
  );
  return rows[0]?.n ?? NaN;
}

test('C26 an error that does not pass ends with the time that a partition has', async () => {
  await harness.restartWorker({ tables: [faultyTable({ timeouts: { partition: '4 s' } })], slots: SLOTS });
  await setFaults(harness.db, [{ day: '2024-03-02', times: 1000, statement: raising('40001') }]);
  const before = await fingerprints(harness.db);
  const handle = await harness.client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-03' });
  const failure = { type: 'TimedOut', message: expect.stringContaining('SQLSTATE 40001') as string };
  await expect(handle.result()).rejects.toMatchObject({ key: '2024-03-02', done: 1, failed: 1, failure });
  expect(changedDays(before, await fingerprints(harness.db))).toEqual(march(1, 1));
  expect(await countAttempts(harness.db, '2024-03-02')).toBeGreaterThan(1);
});
