import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { FailureType } from '../../src/domain/failure.js';
import { demandLedger, migrateLedger, printMigrations } from '../../src/postgres/migrate.js';
import { runWorker } from '../../src/worker.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { dumpSchema } from '../support/schema-dump.js';

const file = join(import.meta.dirname, '../../sql/schema.sql');
const migrations = readdirSync(join(import.meta.dirname, '../../sql/migrations')).sort();
const newest = migrations.at(-1)?.replace('.sql', '');
const refresh = 'BACKFILL_UPDATE_SCHEMA=1 npx vitest run test/integration/schema.test.ts';
const HEAD = `-- Schema backfill after all migrations, as the catalog shows it. Written by a test, which compares it; refresh it with
-- ${refresh}

`;

let db: TestDatabase;
beforeEach(async () => {
  db = await createDatabase();
});
afterEach(() => db.drop());

const dump = () => dumpSchema(db, 'backfill');
const migrate = () => migrateLedger({ databaseUrl: db.url });
const demand = () => demandLedger({ ledger: '"backfill"', query: (text, values) => db.query(text, values) });

describe('the schema of the ledger', () => {
  it('is what sql/schema.sql says', async () => {
    const now = HEAD + (await dump());
    if (process.env['BACKFILL_UPDATE_SCHEMA'] === '1') writeFileSync(file, now);
    expect(now, `The migrations make another schema than ${file} says; if that is meant: ${refresh}`).toBe(
      readFileSync(file, 'utf8'),
    );
  });

  it('holds all that is needed to make it again', async () => {
    const before = await dump();
    await db.query('drop schema backfill cascade');
    await db.query(readFileSync(file, 'utf8'));
    expect(await dump()).toBe(before);
  });

  it('shows any change of it', async () => {
    const changes = [
      'alter table backfill.run add column note text',
      'alter table backfill.run alter column table_name drop not null',
      `alter table backfill.run alter column reason set default 'x'`,
      'alter table backfill.run drop constraint run_state_check',
      'drop index backfill.run_table',
      'alter table backfill.partition reset (fillfactor)',
      `comment on column backfill.run.reason is 'why'`,
      `comment on function backfill.reject_stray_row is 'x'`,
      'alter function backfill.reject_stray_row reset search_path',
      'create table backfill.other ()',
    ];
    let before = await dump();
    for (const change of changes) {
      await db.query(change);
      const after = await dump();
      expect(after, change).not.toBe(before);
      before = after;
    }
    await db.query('create view backfill.v as select 1 as one');
    await expect(dump()).rejects.toThrow('would lack: relation v');
  });
});

describe('migrating', () => {
  it('again changes nothing', async () => {
    await db.query(`insert into backfill.partition (table_name, key) values ('fact', '2024-03-01')`);
    const before = await dump();
    await migrate();
    await migrate();
    expect(await dump()).toBe(before);
    expect((await db.query('select from backfill.partition')).rowCount).toBe(1);
  });

  it('at the same time from several sides succeeds for all', async () => {
    const expected = await dump();
    for (let round = 0; round < 5; round++) {
      await db.query('drop schema backfill cascade');
      await Promise.all([migrate(), migrate(), migrate(), migrate()]);
      expect(await dump()).toBe(expected);
      expect((await db.query('select from backfill.migration')).rowCount).toBe(migrations.length);
    }
  });

  it('by hand, with the printed SQL, comes to the same', async () => {
    const expected = await dump();
    await db.query('drop schema backfill cascade');
    await db.query(await printMigrations());
    expect(await dump()).toBe(expected);
    await demand();
    await migrate();
    expect(await dump()).toBe(expected);
  });
});

describe('a worker', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backfill-schema-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const remedy = 'run "backfill migrate" as the owner of the database';

  test.each([
    ['drop schema backfill cascade', `There is no ledger in this database; ${remedy}`],
    [
      `update backfill.migration set name = '0000_older'`,
      `The ledger of this database is at 0000_older, and this worker needs ${newest}; ${remedy}`,
    ],
  ])('does not start after: %s', async (change, message) => {
    await db.query(change);
    const configPath = join(folder, 'backfill.config.mjs');
    writeFileSync(configPath, 'export default { tables: [] };');
    const refused = await runWorker({
      configPath,
      env: { DATABASE_URL: db.url, TEMPORAL_ADDRESS: '127.0.0.1:1' },
    }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ name: FailureType.LedgerOutdated, message });
  });

  it('is content with a ledger that is newer than it', async () => {
    await demand();
    await db.query(`insert into backfill.migration (name, run_on) values ('9999_later', now())`);
    await demand();
  });
});
