import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { FACT, NEW, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

/** Roles are the server's: each test file makes its own. */
let db: TestDatabase;
let harness: Harness;
let role: string;
beforeAll(async () => {
  db = await createDatabase();
  role = `${db.name}_writer`;
  await db.query(`${FACT} select pg_stat_force_next_flush();
    create role ${role} login password 'secret';
    grant usage, create on schema backfill to ${role};
    grant select, insert, update, delete on all tables in schema backfill to ${role};
    grant select, insert, delete on fact to ${role}; grant select on src to ${role};`);
  const url = new URL(db.url);
  url.username = role;
  url.password = 'secret';
  harness = await createHarness('', { tables: [factTable()] }, { db, workerDatabaseUrl: url.href });
});
afterAll(async () => {
  await harness.stopWorker();
  await db.query(`drop owned by ${role}; drop role ${role}`);
  await harness.close();
});

/** How often the statistics of the table and its partitions were refreshed. */
async function analyses(): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select sum(analyze_count)::int as n from pg_stat_all_tables where relname like 'fact%'`,
  );
  return rows[0]?.n ?? 0;
}

test('a role that may write but does not own the table replaces its days; statistics that it may not refresh stay', async () => {
  const before = await analyses();
  const run = await harness.client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-03' });
  expect(await run.result()).toMatchObject({ partitions: 3, rowsAfter: 300 });
  const days = await fingerprints(db);
  for (const day of march(1, 3)) expect(days.get(day)).toMatchObject(NEW);
  expect(await analyses()).toBe(before);
});

test('without the right to make tables in the schema of the ledger nothing is kept: the plan says so, and both remedies', async () => {
  await db.query(`revoke create on schema backfill from ${role}`);
  const range = { table: 'fact', from: '2024-03-04', to: '2024-03-04' };
  const grant = `grant create on schema "backfill" to ${role}`;
  const { refusals } = await harness.client.plan(range);
  expect(refusals).toEqual([
    `The worker may not keep what it replaces, because it may make no table in schema "backfill": ${grant}; or set keepReplaced: '0'`,
  ]);
  const ofFact = async () =>
    (await harness.client.doctor({ table: 'fact' })).filter(({ check }) => check === 'public.fact');
  expect(await ofFact()).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ level: 'problem', sql: [`${grant};`] })]),
  );
  await harness.restartWorker({ tables: [factTable({ keepReplaced: '0' })] });
  expect((await harness.client.plan(range)).refusals).toEqual([]);
  expect((await ofFact()).filter(({ level }) => level === 'problem')).toEqual([]);
  expect(await (await harness.client.start(range)).result()).toMatchObject({ partitions: 1, keptUntil: null });
});
