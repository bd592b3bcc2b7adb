import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { migrateLedger } from '../../src/postgres/migrate.js';
import { createDatabase } from '../support/database.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { GATED_FACT, buildCounts, closeGate, gatedFact, openGate, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { statusOf, terminateOpenRuns } from '../support/history.js';
import { replacedKeys, runState } from '../support/ledger.js';
import { type ServerFolder, createServerFolder } from '../support/own-servers.js';
import { type PgBouncer, findPgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { hasSession, runSessions, untilAtGate } from '../support/sessions.js';
import { until } from '../support/wait.js';

const program = findPgBouncer() ?? '';
const SESSIONS = 3;
const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10' };

describe.skipIf(program === '')('behind PgBouncer in transaction mode (skipped where it is not installed)', () => {
  let harness: Harness;
  let folder: ServerFolder;
  let pooler: PgBouncer;
  let narrow: PgBouncer;
  let pooled: string;

  beforeAll(async () => {
    const db = await createDatabase();
    // Other than ours, and other than each other: what leaks, or is not set, is seen.
    await db.query(`do $$ begin
      execute format('alter database %I set timezone = ''America/New_York''', current_database());
      execute format('alter database %I set intervalstyle = ''iso_8601''', current_database());
      execute format('alter database %I set idle_in_transaction_session_timeout = ''7min''', current_database());
    end $$`);
    folder = await createServerFolder();
    pooler = await startPgBouncer(program, folder, { upstream: db.url, sessions: SESSIONS });
    narrow = await startPgBouncer(program, folder, { upstream: db.url, sessions: 1 });
    pooled = pooler.url(db.url);
    harness = await createHarness(GATED_FACT, { tables: [gatedFact()] }, { db, workerDatabaseUrl: pooled });
  });
  beforeEach(() => resetFact(harness.db));
  afterEach(() => terminateOpenRuns(harness.temporal));
  afterAll(async () => {
    await harness.close();
    await Promise.all([pooler.stop(), narrow.stop()]);
    folder.remove();
  });

  test('a run completes with more at once than the pooler has sessions, and leaves no setting behind', async () => {
    // What strangers have in a session that a pooler gives to everybody stays as it is.
    await Promise.all(march(1, SESSIONS).map(() => markAsAStranger(pooled)));
    const run = await harness.client.start({ ...request, concurrency: 2 * SESSIONS, publish: 'any-order' });
    const { planId } = await run.result();
    for (const fingerprint of (await fingerprints(harness.db)).values()) expect(fingerprint).toMatchObject(NEW);
    expect((await replacedKeys(harness.db, planId)).sort()).toEqual(march(1, 10));
    expect(Object.values(await buildCounts(harness.db))).toEqual(march(1, 10).map(() => 1));

    const strangers = await Promise.all(march(1, SESSIONS).map(() => settingsOfAStranger(pooled)));
    expect(new Set(strangers.map(({ pid }) => pid)).size).toBe(SESSIONS);
    for (const { settings } of strangers) {
      expect(settings).toEqual({
        timezone: 'America/New_York',
        intervalstyle: 'iso_8601',
        idle_in_transaction_session_timeout: '7min',
        application_name: 'a stranger',
        statement_timeout: '0',
        lock_timeout: '0',
        row_security: 'on',
        client_connection_check_interval: '0',
        search_path: '"$user", public',
        'app.stranger': 'was here',
      });
    }
  });

  test('a cancel stops the query of its own transaction, and no lock is left', async () => {
    const run = await cancelAtGate();
    expect(await runState(harness.db, run.planId)).toBe('cancelled');
  });

  test('a cancel gets through also where all sessions of the pooler are taken', async () => {
    await harness.close();
    const db = await createDatabase();
    harness = await createHarness(GATED_FACT, { tables: [gatedFact()] }, { db, workerDatabaseUrl: narrow.url(db.url) });
    await cancelAtGate();
  });

  test('a late attempt of an execution that is gone is ended by the next one', async () => {
    const { db, client, temporal } = harness;
    await closeGate(db, '2024-03-03');
    const run = await client.start(request);
    const struck = await untilAtGate(db, '2024-03-03');
    await temporal.workflow.getHandle(run.workflowId).terminate();
    const next = await client.start({ plan: struck.planId });
    await untilAtGate(db, '2024-03-03', struck);
    expect(await hasSession(db, struck)).toBe(false);
    await openGate(db, '2024-03-03');
    expect(await next.result()).toMatchObject({ planId: struck.planId, partitions: 10 });
  });

  test('migrating is refused in words, because it needs a session of its own', async () => {
    await expect(migrateLedger({ databaseUrl: pooler.url(harness.db.url) })).rejects.toThrow(
      'The database URL leads to a connection pooler, and migrations need a session of their own',
    );
    expect((await harness.db.query('select from backfill.migration')).rowCount).toBeGreaterThan(0);
  });

  /** Cancels a run in the middle of its fifth day, and sees that all is as if it had never begun it. */
  async function cancelAtGate(): Promise<{ readonly planId: string }> {
    const { db, client, temporal } = harness;
    await closeGate(db, '2024-03-05');
    const run = await client.start(request);
    const struck = await untilAtGate(db, '2024-03-05');
    await run.cancel();
    const start = performance.now();
    await expect(run.result()).rejects.toMatchObject({ name: 'RunCancelled' });
    expect(performance.now() - start).toBeLessThan(15_000);
    expect(await statusOf(temporal, run.workflowId)).toBe('CANCELLED');
    await until('no session of the run', async () => (await runSessions(db)).length === 0);
    const after = await fingerprints(db);
    for (const day of march(1, 4)) expect(after.get(day)).toMatchObject(NEW);
    for (const day of march(5, 10)) expect(after.get(day)).toMatchObject({ sum: '100.00' });
    return { planId: struck.planId };
  }
});

async function markAsAStranger(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`begin; select set_config('app.stranger', 'was here', false)`);
    await client.query('select pg_sleep(0.5)');
    await client.query('commit');
  } finally {
    await client.end();
  }
}

/** What somebody else finds in a session of the pooler. All of them at once, so that each gets another session. */
async function settingsOfAStranger(url: string) {
  const client = new pg.Client({ connectionString: url, application_name: 'a stranger' });
  await client.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ pid: number; settings: Record<string, string> }>(
      `select pg_backend_pid() as pid, json_object_agg(lower(name), current_setting(name, true)) as settings
         from (select name from pg_settings union select 'app.stranger') s
        where lower(name) in ('app.stranger', 'timezone', 'intervalstyle', 'idle_in_transaction_session_timeout', 'application_name',
          'statement_timeout', 'lock_timeout', 'row_security', 'client_connection_check_interval', 'search_path')`,
    );
    await client.query('select pg_sleep(0.5)');
    await client.query('commit');
    if (!rows[0]) throw new Error('There are no settings');
    return rows[0];
  } finally {
    await client.end();
  }
}
