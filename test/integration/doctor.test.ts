import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Finding } from '../../src/domain/finding.js';
import { runBackfill } from '../support/commands.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, createHarness, createNamespace } from '../support/harness.js';

const schema = `${FACT}
create schema "Src Data"; create table "Src Data".orders as select * from src;
create table late (day date not null, id bigint not null, amount numeric(12,2) not null) partition by range (day);
create table late_rest partition of late default;
insert into late values ('2024-03-02', 1, 1);`;

const tables = [
  factTable({ reads: ['src'] }),
  factTable({ name: 'late', partitionBy: { column: 'day', grain: 'day', timeZone: 'Europe/Berlin' } }),
];

/** Roles are the server's: each test file makes its own. */
let db: TestDatabase;
let harness: Harness;
let role: string;
beforeAll(async () => {
  db = await createDatabase();
  role = `${db.name}_loader`;
  await db.query(`create role ${role} login password 'secret'`);
  await db.query(schema);
  await db.query(`revoke create on schema public from public; revoke usage on schema public from public`);
  const url = new URL(db.url);
  url.username = role;
  url.password = 'secret';
  harness = await createHarness('', { tables, slots: 4 }, { db, workerDatabaseUrl: url.href });
});
afterAll(async () => {
  await harness.stopWorker();
  await db.query(`reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`);
  await harness.close();
});

const of = (findings: readonly Finding[], check: string) => findings.filter((finding) => finding.check === check);

test('a worker that may not read the ledger says at its start which rights it lacks', async () => {
  const url = new URL(db.url);
  Object.assign(url, { username: role, password: 'secret' });
  const config = fileURLToPath(new URL('../fixtures/fact/backfill.config.ts', import.meta.url));
  const ended = await runBackfill({ ...harness.env, DATABASE_URL: url.href, BACKFILL_CONFIG: config }, 'worker');
  expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
  expect(ended.stderr).toBe(
    'backfill: permission denied for schema backfill (SQLSTATE 42501); run as the owner of the ledger: ' +
      `grant usage on schema "backfill" to ${role}; ` +
      `grant select, insert, update, delete on all tables in schema "backfill" to ${role};\n`,
  );
});

test('a role without rights: every missing one is SQL that gives it', async () => {
  let findings = await harness.client.doctor();
  const [ledger] = of(findings, 'ledger rights');
  expect(ledger).toMatchObject({
    level: 'problem',
    sql: [
      `grant usage on schema "backfill" to ${role};`,
      `grant select, insert, update, delete on all tables in schema "backfill" to ${role};`,
    ],
  });
  // What is found first has to be repaired before the rest can be seen.
  for (let round = 0; round < 4 && findings.some(isSql); round++) {
    for (const finding of findings) if (finding.level !== 'ok') for (const text of finding.sql) await db.query(text);
    findings = await harness.client.doctor();
  }
  expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
  expect(of(findings, 'public.fact')).toMatchObject([{ level: 'ok' }]);
  expect(of(findings, 'ledger version')).toMatchObject([{ level: 'ok' }]);
  const handle = await harness.client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-11', select: 'missing' });
  await expect(handle.result()).rejects.toMatchObject({ name: 'PartitionFailed', failure: { type: 'EmptyBuild' } });
});

function isSql(finding: Finding): boolean {
  return finding.level !== 'ok' && finding.sql.length > 0;
}

test('a ledger that may not be pruned is a warning', async () => {
  await db.query(`revoke delete on all tables in schema backfill from ${role}`);
  expect(of(await harness.client.doctor(), 'ledger rights')).toMatchObject([
    { level: 'warning', sql: [`grant delete on all tables in schema "backfill" to ${role};`] },
  ]);
  await db.query(`grant delete on all tables in schema backfill to ${role}`);
});

test('everything that is looked at has its finding', async () => {
  const findings = await harness.client.doctor();
  const checks = findings.map(({ check }) => check);
  for (const check of [
    'Temporal',
    'namespace',
    'search attributes',
    'workflow worker',
    'activity worker',
    'PostgreSQL version',
    'connections',
    'lost clients',
    'time zone',
    'pooler',
    'ledger version',
    'ledger rights',
  ]) {
    expect(checks).toContain(check);
  }
  expect(of(findings, 'connections')).toMatchObject([{ level: 'ok', found: expect.stringMatching(/^5 for 1 worker/) }]);
  expect(of(findings, 'time zone')).toMatchObject([{ level: 'ok' }, { level: 'ok' }]);
  expect(of(findings, 'pooler')).toMatchObject([{ level: 'ok' }]);
});

test('a default partition with rows of the range is told, and of another range is not', async () => {
  const inRange = await harness.client.doctor({ table: 'late', from: '2024-03-01', to: '2024-03-02' });
  expect(of(inRange, 'public.late')).toMatchObject([
    { level: 'warning', found: expect.stringContaining('late_rest holds rows of 2024-03-01 to 2024-03-02') },
  ]);
  const other = await harness.client.doctor({ table: 'late', from: '2024-03-03', to: '2024-03-04' });
  expect(of(other, 'public.late')).toMatchObject([{ level: 'ok' }]);
  expect(of(other, 'public.fact')).toEqual([]);
});

test('connections that cannot be had are a problem', async () => {
  await db.query(`alter role ${role} connection limit 4`);
  expect(of(await harness.client.doctor(), 'connections')).toMatchObject([{ level: 'problem' }]);
  await db.query(`alter role ${role} connection limit -1`);
});

test('a ledger of an older version, and a table that is gone', async () => {
  const { rows } = await db.query<{ name: string; id: number }>(
    'delete from backfill.migration where id = (select max(id) from backfill.migration) returning *',
  );
  expect(of(await harness.client.doctor(), 'ledger version')).toMatchObject([
    { level: 'problem', remedy: expect.stringContaining('backfill migrate') },
  ]);
  await db.query('insert into backfill.migration (id, name, run_on) values ($1, $2, now())', [
    rows[0]?.id,
    rows[0]?.name,
  ]);
  await db.query('alter table late rename to gone');
  expect(of(await harness.client.doctor(), 'public.late')).toMatchObject([
    { level: 'problem', found: 'There is no table public.late in the database' },
  ]);
  await db.query('alter table gone rename to late');
});

test('the CLI exits with 0 where there is no problem, and with 1 without a worker, saying what it can', async () => {
  const well = await runBackfill(harness.env, 'doctor', 'fact');
  expect(well.stdout).toContain('ok       PostgreSQL version');
  expect(well.exitCode).toBe(0);
  await harness.stopWorker();
  const none = await runBackfill({ ...harness.env, TEMPORAL_NAMESPACE: await freshNamespace() }, 'doctor');
  expect(none.exitCode).toBe(1);
  expect(none.stdout).toContain('ok       Temporal');
  expect(none.stdout).toMatch(/problem +workflow worker: None on task queue backfill/);
  const nowhere = await runBackfill({ ...harness.env, TEMPORAL_NAMESPACE: 'no-such' }, 'doctor', '--json');
  expect(nowhere.exitCode).toBe(1);
  expect(JSON.parse(nowhere.stdout)).toMatchObject({ outcome: 'failed', findings: [{ level: 'problem' }] });
  await harness.restartWorker({ tables, slots: 4 });
});

/** One in which nobody has ever polled: the server remembers pollers for minutes. */
async function freshNamespace(): Promise<string> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    return await createNamespace(connection);
  } finally {
    await connection.close();
  }
}
