import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/postgres/database.js';
import { endSessions, sessionName } from '../../src/postgres/sessions.js';
import { inTransaction } from '../../src/postgres/transaction.js';
import { type TestDatabase, createDatabase } from '../support/database.js';

const role = `backfill_test_${randomBytes(6).toString('hex')}`;
const planId = randomUUID();
const key = '2024-03-05';

let db: TestDatabase;
let database: Database;
beforeAll(async () => {
  db = await createDatabase();
  await db.query(`create role ${role} login password '${role}'`);
  const url = new URL(db.url);
  url.username = role;
  url.password = role;
  database = openDatabase({ url: url.href, size: 1 });
});
afterAll(async () => {
  await database.close();
  await db.query(`drop role ${role}`);
  await db.drop();
});

test('a session of a role that ours may not end is reported, to be tried again, with the remedy', async () => {
  const other = new pg.Client({ connectionString: db.url, application_name: sessionName(planId, key) });
  await other.connect();
  await expect(end()).rejects.toMatchObject({
    name: 'Transient',
    message: expect.stringMatching(new RegExp(`another role.*${planId}.*grant pg_signal_backend`)),
  });
  expect(await other.query('select 1 as alive')).toMatchObject({ rows: [{ alive: 1 }] });
  await other.end();
  await expect(end()).resolves.toBeUndefined();
});

function end(): Promise<void> {
  const options = { applicationName: 'test', timeouts: { attemptMs: 10_000, lockMs: 1_000 } };
  return inTransaction(database, options, (tx) => endSessions(tx, planId));
}
