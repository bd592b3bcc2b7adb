import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FACT, factTable, fingerprints } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { runSessions } from '../support/sessions.js';
import { until } from '../support/wait.js';

const day = '2024-03-04';

let harness: Harness;
let holder: pg.Client;
let planId: string;
/** Somebody holds the lock that every writer of the partition takes. */
beforeEach(async () => {
  harness = await createHarness(FACT, { tables: [factTable()] });
  ({ planId } = await harness.client.plan({ table: 'fact', from: day, to: day }));
  await harness.db.query(`insert into backfill.partition (table_name, key) values ('public.fact', $1)`, [day]);
  holder = new pg.Client({ connectionString: harness.db.url });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from backfill.partition where key = $1 for update', [day]);
});
afterEach(async () => {
  await holder.end();
  await harness.close();
});

async function startAndWait() {
  const run = await harness.client.start({ plan: planId });
  await until('an attempt that waits for the lock', async () => {
    const { rowCount } = await harness.db.query(
      `select from pg_stat_activity where datname = current_database() and application_name = $1 and wait_event_type = 'Lock'`,
      [`bf:${planId}:${day}`],
    );
    return rowCount === 1;
  });
  return run;
}

test('an attempt that waited for one that commits meanwhile finds its record, and changes nothing', async () => {
  const { db } = harness;
  const before = await fingerprints(db);
  const run = await startAndWait();
  await holder.query(
    `insert into backfill.replacement (table_name, key, generation, plan_id, action, rows_before, rows_after, build_digest, attempt, started_at)
     values ('public.fact', $1, 1, $2, 'replace', 3, 100, 'b', 1, now())`,
    [day, planId],
  );
  await holder.query('update backfill.partition set generation = 1, plan_id = $1, row_count = 100', [planId]);
  await holder.query('commit');
  expect(await run.result()).toMatchObject({ partitions: 1, rowsBefore: 3, rowsAfter: 100 });
  expect(await fingerprints(db)).toEqual(before);
  expect((await db.query('select from backfill.replacement')).rowCount).toBe(1);
});

test('a cancel ends an attempt that still waits to be admitted', async () => {
  const { db } = harness;
  const before = await fingerprints(db);
  const run = await startAndWait();
  await run.cancel();
  await expect(run.result()).rejects.toMatchObject({ name: 'RunCancelled' });
  await until('no session of the run', async () => (await runSessions(db)).length === 0);
  await holder.query('commit');
  expect(await fingerprints(db)).toEqual(before);
  expect((await db.query('select from backfill.replacement')).rowCount).toBe(0);
});
