import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { changedDays } from '../support/changed-days.js';
import { runBackfill } from '../support/commands.js';
import { NEW, OLD, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { statusOf, terminateOpenRuns } from '../support/history.js';
import { runState } from '../support/ledger.js';
import { untilAtGate } from '../support/sessions.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };

/** Uses a function, which can go away under a run without waiting for its locks. */
const table = gatedFact({
  build: ({ startDate, endDate, key }) => sql`
    select day, id, amount * factor() as amount from src
     where day >= ${startDate} and day < ${endDate} and (id <> 50 or pass_gate(${key}))`,
});
const FACTOR = `create or replace function factor() returns numeric language sql immutable as 'select 1.0'`;

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(GATED_FACT + FACTOR, { tables: [table] });
});
beforeEach(prepare);
afterEach(() => terminateOpenRuns(harness.temporal));
afterAll(() => harness.close());

interface Fault {
  readonly name: string;
  readonly failed: number;
  readonly sqlstate: string;
  readonly cause: string;
  before(): Promise<unknown>;
  during(): Promise<unknown>;
}

const faults: readonly Fault[] = [
  {
    name: 'a duplicate in the middle',
    failed: 6,
    sqlstate: '23505',
    cause: 'duplicate key value violates unique constraint',
    before: () => harness.db.query(`insert into src values ('2024-03-06', 1, 9)`),
    during: async () => {},
  },
  {
    name: 'a duplicate in the last day',
    failed: 10,
    sqlstate: '23505',
    cause: 'duplicate key value violates unique constraint',
    before: () => harness.db.query(`insert into src values ('2024-03-10', 1, 9)`),
    during: async () => {},
  },
  {
    name: 'SQL that cannot be prepared any more',
    failed: 6,
    sqlstate: '42883',
    cause: 'function factor() does not exist',
    before: () => closeGate(harness.db, '2024-03-05'),
    during: async () => {
      await untilAtGate(harness.db, '2024-03-05');
      await harness.db.query('drop function factor()');
      await openGate(harness.db, '2024-03-05');
    },
  },
];

test.each(faults)('C10 $name: the run is Failed, and the client names day and cause', async (fault) => {
  const { db, client, temporal } = harness;
  const key = march(fault.failed, fault.failed)[0];
  await fault.before();
  const before = await fingerprints(db);
  const run = await client.start(request);
  await fault.during();

  const error: unknown = await run.result().catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    name: 'PartitionFailed',
    key,
    done: fault.failed - 1,
    failed: 1,
    total: 10,
    failure: { type: 'SqlFailed', sqlstate: fault.sqlstate },
    message: expect.stringMatching(new RegExp(`${key}.*${fault.cause.replace('()', '\\(\\)')}`)),
  });
  expect(await statusOf(temporal, run.workflowId)).toBe('FAILED');
  const { planId } = error as { planId: string };
  expect(await runState(db, planId)).toBe('failed');
  expect(await client.readRun(planId)).toMatchObject({ failures: [{ key, attempt: 1, sqlstate: fault.sqlstate }] });

  const after = await fingerprints(db);
  expect(changedDays(before, after)).toEqual(march(1, fault.failed - 1));
  for (const day of march(1, fault.failed - 1)) expect(after.get(day)).toMatchObject(NEW);
  expect(after.get(key ?? '')).toMatchObject(OLD);
});

test.each(faults)('C10 $name: the CLI ends with 1, and names day and cause', async (fault) => {
  const key = march(fault.failed, fault.failed)[0];
  await fault.before();
  const [range, id] = [['fact', '--from', request.from, '--to', request.to], 'by-the-cli'];
  const [ended] = await Promise.all([
    runBackfill(harness.env, 'start', ...range, '--yes', '--workflow-id', id),
    fault.during(),
  ]);
  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toContain(key);
  expect(ended.stderr.replace(/\s+/g, ' ')).toContain(fault.cause);
  expect(ended.stdout).toContain(key);
  expect(await statusOf(harness.temporal, id)).toBe('FAILED');
});

test('C10 SQL that cannot be prepared from the start: refused, and nothing is written', async () => {
  const { db, client, temporal } = harness;
  await db.query('drop function factor()');
  const before = await fingerprints(db);
  const run = await client.start(request);
  await expect(run.result()).rejects.toMatchObject({
    name: 'BackfillRefused',
    type: 'InvalidRequest',
    message: expect.stringContaining('function factor() does not exist'),
  });
  expect(await statusOf(temporal, run.workflowId)).toBe('FAILED');
  const ended = await runBackfill(harness.env, 'start', 'fact', '--from', request.from, '--to', request.to, '--yes');
  expect(ended.exitCode).toBe(2);
  expect(ended.stdout + ended.stderr).toContain('function factor() does not exist');
  expect(changedDays(before, await fingerprints(db))).toEqual([]);
});

async function prepare(): Promise<void> {
  await resetFact(harness.db);
  await harness.db.query(FACTOR);
}
