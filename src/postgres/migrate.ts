import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { BackfillError, FailureType } from '../domain/failure.js';
import type { Tx } from './database.js';

/** Beside `dist` and `src` alike. */
const MIGRATIONS = fileURLToPath(new URL('../../sql/migrations', import.meta.url));

/** Brings the ledger of a database up to date. Run it as the owner of the database, or of schema `backfill`. */
export async function migrateLedger({ databaseUrl }: { readonly databaseUrl: string }): Promise<void> {
  await runner({
    databaseUrl,
    dir: MIGRATIONS,
    direction: 'up',
    schema: 'backfill',
    createSchema: true,
    migrationsSchema: 'backfill',
    migrationsTable: 'migration',
    createMigrationsSchema: true,
    singleTransaction: false,
    checkOrder: true,
    // The default fails at once where two migrate at the same time.
    advisoryLockMode: 'wait',
    log: () => {},
  });
}

/** Where the library, and a worker's check, find which migrations have been run. */
const RECORDS = `create schema if not exists backfill;
create table if not exists backfill.migration (id serial primary key, name varchar(255) not null, run_on timestamp not null);
`;

/** The SQL of every migration, for those who run it by hand: each is recorded as it would be otherwise. */
export async function printMigrations(): Promise<string> {
  const files = await migrationFiles();
  const texts = await Promise.all(files.map((file) => readFile(`${MIGRATIONS}/${file}`, 'utf8')));
  const scripts = texts.map((text, i) => {
    const name = (files[i] ?? '').replace(/\.sql$/, '');
    return `begin;\n${text}\ninsert into backfill.migration (name, run_on) values ('${name}', pg_catalog.now());\ncommit;\n`;
  });
  return [RECORDS, ...scripts].join('\n');
}

/** @throws {BackfillError} LedgerOutdated, with the remedy */
export async function demandLedger(tx: Tx): Promise<void> {
  const wanted = (await migrationFiles()).at(-1)?.replace(/\.sql$/, '') ?? '';
  const { rows } = await tx.query<{ exists: boolean }>(
    `select pg_catalog.to_regclass('backfill.migration') is not null as exists`,
  );
  const newest = rows[0]?.exists
    ? await tx.query<{ name: string }>('select name from backfill.migration order by name desc limit 1')
    : undefined;
  const found = newest?.rows[0]?.name;
  if (found !== undefined && found >= wanted) return;
  const is =
    found === undefined
      ? 'There is no ledger in this database'
      : `The ledger of this database is at ${found}, and this worker needs ${wanted}`;
  throw new BackfillError({
    type: FailureType.LedgerOutdated,
    message: `${is}; run "backfill migrate" as the owner of the database`,
  });
}

async function migrationFiles(): Promise<string[]> {
  return (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort();
}
