import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PruneCounts } from '../../src/domain/prune.js';
import { execute } from '../support/entrances.js';
import { runBackfill } from '../support/commands.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { terminateOpenRuns } from '../support/history.js';
import { untilAtGate } from '../support/sessions.js';

const days = (from: number, to: number) => ({
  table: 'fact',
  from: march(from, from)[0] ?? '',
  to: march(to, to)[0] ?? '',
});
const LEDGER = ['kept', 'plan', 'plan_partition', 'run', 'partition', 'replacement', 'failure'];

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(GATED_FACT, { tables: [gatedFact({ keepReplaced: '0' })] });
});
beforeEach(async () => {
  await resetFact(harness.db);
  await harness.db.query(`truncate ${LEDGER.map((name) => `backfill.${name}`).join(', ')}`);
});
afterEach(() => terminateOpenRuns(harness.temporal));
afterAll(() => harness.close());

test('prune deletes what is old, and keeps the newest of every partition and all that a kept row refers to', async () => {
  const never = await plan(1, 2);
  const first = await run(1, 3);
  const second = await run(2, 4);
  await age(100);
  const young = await plan(1, 2);
  // Day 1 is still as the first run wrote it; days 2 and 3 are not.
  const counts = { plans: 1, planPartitions: 2, runs: 0, replacements: 2, failures: 0 };
  const before = await rows();
  expect(await harness.client.prune({ olderThan: '90 days', dryRun: true })).toMatchObject({ dryRun: true, counts });
  expect(await rows()).toEqual(before);

  const done = await harness.client.prune({ olderThan: '90 days' });
  expect(done).toMatchObject({ dryRun: false, counts });
  expect(await plans()).toEqual([first, second, young].sort());
  expect(await plans()).not.toContain(never);
  expect(await replaced()).toEqual(
    [`2024-03-01 ${first}`, `2024-03-02 ${second}`, `2024-03-03 ${second}`, `2024-03-04 ${second}`].sort(),
  );
  expect(await rows()).toEqual(minus(before, counts));
  expect(await harness.client.prune({ olderThan: '90 days' })).toMatchObject({ counts: { plans: 0, replacements: 0 } });

  // The next run of a pruned ledger goes as ever.
  await run(1, 4);
  for (const day of march(1, 4)) expect((await fingerprints(harness.db)).get(day)).toMatchObject(NEW);
});

test('prune takes a superseded run with its plan, and both of a plan and the one that it took over', async () => {
  const old = await run(1, 2);
  const { planId: replacing } = await harness.client.plan({ plan: old, replan: true });
  await run(1, 2);
  await age(100);
  const before = await rows();
  const counts = { plans: 2, planPartitions: 4, runs: 1, replacements: 2, failures: 0 };
  expect(await harness.client.prune({ olderThan: '90 days', dryRun: true })).toMatchObject({ counts });
  expect(await harness.client.prune({ olderThan: '90 days' })).toMatchObject({ counts });
  expect(await plans()).not.toContain(old);
  expect(await plans()).not.toContain(replacing);
  expect(await rows()).toEqual(minus(before, counts));
});

test('a plan stays while a younger one takes it over', async () => {
  const old = await run(1, 2);
  await run(1, 2);
  await age(100);
  const { planId: replacing } = await harness.client.plan({ plan: old, replan: true });
  await harness.client.prune({ olderThan: '90 days' });
  expect(await plans()).toEqual(expect.arrayContaining([old, replacing]));
});

test('failures that are the last word on a partition stay, others go', async () => {
  await harness.db.query(`insert into src values ('2024-03-01', 1, 9), ('2024-03-02', 1, 9)`);
  const failed = await start(1, 2, 'continue');
  await expect(failed.result()).rejects.toMatchObject({ failed: 2 });
  await harness.db.query(`delete from src where amount = 9`);
  await run(1, 1);
  await age(100);
  await harness.client.prune({ olderThan: '90 days' });
  const left = await harness.db.query<{ key: string }>('select key from backfill.failure');
  expect(left.rows).toEqual([{ key: '2024-03-02' }]);
});

test('an open run is never touched, however old, and completes', async () => {
  const { db, client } = harness;
  await run(1, 3);
  await closeGate(db, '2024-03-02');
  const handle = await client.start(days(1, 3));
  const { planId } = await untilAtGate(db, '2024-03-02');
  await age(100);
  const { counts } = await client.prune({ olderThan: '90 days' });
  // The open run has written day 1 anew: of the first run only that record is superseded.
  expect(counts).toMatchObject({ plans: 0, runs: 0, replacements: 1 });
  await openGate(db, '2024-03-02');
  expect(await handle.result()).toMatchObject({ planId, partitions: 3 });
});

test.each([
  [{ olderThan: 'for ever' }, 'request.olderThan is "for ever"'],
  [{ olderThan: '1 hour' }, 'at least "1 day"'],
  [{ before: '2999-01-01T00:00:00Z' }, 'at least "1 day"'],
  [{}, 'Say how old'],
  [{ olderThan: '90 days', all: true }, 'request.all'],
])('the Temporal CLI with %j is refused', async (request, message) => {
  const reply = await execute(harness, { type: 'prune', inputs: [JSON.stringify(request)] });
  expect(reply).toMatchObject({ ok: false, type: 'InvalidRequest', message: expect.stringContaining(message) });
});

test('the command shows and deletes', async () => {
  await plan(1, 2);
  await age(100);
  const dry = await runBackfill(harness.env, 'prune', '--older-than', '90 days', '--dry-run');
  expect(dry).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/plans +1\n/) });
  expect((await plans()).length).toBe(1);
  const done = await runBackfill(harness.env, 'prune', '--older-than', '90 days', '--yes');
  expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Deleted of the ledger') });
  expect(await plans()).toEqual([]);
});

async function plan(from: number, to: number): Promise<string> {
  return (await harness.client.plan(days(from, to))).planId;
}

function start(from: number, to: number, onFailure: 'stop' | 'continue' = 'stop') {
  return harness.client.start({ ...days(from, to), onFailure, publish: 'any-order' });
}

async function run(from: number, to: number): Promise<string> {
  return (await (await start(from, to)).result()).planId;
}

/** Makes every row of the ledger that many days older, but those that a replacement at work holds. */
async function age(by: number): Promise<void> {
  const moments = [
    ['plan', ['created_at']],
    ['run', ['opened_at', 'closed_at']],
    ['partition', ['replaced_at', 'failed_at']],
    ['replacement', ['started_at', 'committed_at']],
    ['failure', ['failed_at']],
  ] as const;
  for (const [name, columns] of moments) {
    const older = columns.map((column) => `${column} = ${column} - interval '${by} days'`).join(', ');
    await harness.db.query(
      `update backfill.${name} set ${older} where ctid in (select ctid from backfill.${name} for update skip locked)`,
    );
  }
}

async function plans(): Promise<string[]> {
  const found = await harness.db.query<{ id: string }>('select plan_id::text as id from backfill.plan order by 1');
  return found.rows.map(({ id }) => id);
}

async function replaced(): Promise<string[]> {
  const found = await harness.db.query<{ line: string }>(
    `select key || ' ' || plan_id as line from backfill.replacement order by 1`,
  );
  return found.rows.map(({ line }) => line);
}

async function rows(): Promise<PruneCounts> {
  const count = (name: string) => `(select count(*)::int from backfill.${name})`;
  const found = await harness.db.query<PruneCounts>(
    `select ${count('plan')} as plans, ${count('plan_partition')} as "planPartitions", ${count('run')} as runs,
            ${count('replacement')} as replacements, ${count('failure')} as failures`,
  );
  if (!found.rows[0]) throw new Error('Nothing was counted');
  return found.rows[0];
}

function minus(a: PruneCounts, b: PruneCounts): PruneCounts {
  return Object.fromEntries(
    Object.entries(a).map(([name, n]) => [name, n - b[name as keyof PruneCounts]]),
  ) as unknown as PruneCounts;
}
