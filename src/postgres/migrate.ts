import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { BackfillError, FailureType } from '../domain/failure.js';
import { quoteIdentifier } from '../domain/table-name.js';
import { DEFAULT_LEDGER, type Tx } from './database.js';
import { toBackfillError } from './sqlstate.js';

/** Beside `dist` and `src` alike. */
const MIGRATIONS = fileURLToPath(new URL('../../sql/migrations', import.meta.url));

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** The ledger's schema. */
  readonly schema?: string;
}

/**
 * Brings the ledger of a database up to date. Run it as the owner of the database, or of the ledger's schema.
 * @throws {BackfillError} InvalidRequest: the URL leads to a pooler; or what PostgreSQL said
 */
export async function migrateLedger({ databaseUrl, schema = DEFAULT_LEDGER }: MigrateOptions): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await demandOwnSession(client);
    await migrate(client, schema);
  } catch (error) {
    throw toBackfillError(error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Where the library expects the schema's name. It puts it into its SQL as it is, between either kind of quotes. */
const PLACE = 'the-schema-of-the-ledger';

async function migrate(client: pg.Client, schema: string): Promise<void> {
  const inPlace = (text: string) =>
    text
      .replaceAll(`"${PLACE}"`, () => quoteIdentifier(schema))
      .replaceAll(`'${PLACE}'`, () => pg.escapeLiteral(schema));
  await runner({
    dbClient: {
      query: (text: string, values?: unknown[]) => client.query(inPlace(text), values),
    } as unknown as pg.Client,
    dir: MIGRATIONS,
    direction: 'up',
    schema: PLACE,
    createSchema: true,
    migrationsSchema: PLACE,
    migrationsTable: 'migration',
    createMigrationsSchema: true,
    singleTransaction: false,
    checkOrder: true,
    // The default fails at once where two migrate at the same time.
    advisoryLockMode: 'wait',
    log: () => {},
  });
}

/**
 * Migrations hold a lock and a search path in their session. A pooler that gives out sessions by the transaction would
 * lose the one and leave the other to strangers; the number of the session tells that there is a pooler.
 */
async function demandOwnSession(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_catalog.pg_backend_pid() as pid');
  if (rows[0]?.pid === (client as pg.Client & { processID: number }).processID) return;
  throw new BackfillError({
    type: FailureType.InvalidRequest,
    message:
      'The database URL leads to a connection pooler, and migrations need a session of their own: give the address of PostgreSQL itself, or run the SQL of "backfill migrate --print" there',
  });
}

/** The SQL of every migration, for those who run it by hand: each is recorded as it would be otherwise. */
export async function printMigrations(schema: string = DEFAULT_LEDGER): Promise<string> {
  const files = await migrationFiles();
  const texts = await Promise.all(files.map((file) => readFile(`${MIGRATIONS}/${file}`, 'utf8')));
  const scripts = texts.map((text, i) => {
    const name = (files[i] ?? '').replace(/\.sql$/, '');
    return `begin;\n${text}\ninsert into migration (name, run_on) values ('${name}', pg_catalog.now());\ncommit;\n`;
  });
  return [recordsIn(quoteIdentifier(schema)), ...scripts, 'reset search_path;\n'].join('\n');
}

/** Where the library, and a worker's check, find which migrations have been run. */
function recordsIn(schema: string): string {
  return `create schema if not exists ${schema};
set search_path = ${schema};
create table if not exists migration (id serial primary key, name varchar(255) not null, run_on timestamp not null);
`;
}

/** @throws {BackfillError} LedgerOutdated, with the remedy */
export async function demandLedger(tx: Pick<Tx, 'ledger' | 'query'>): Promise<void> {
  const wanted = (await migrationFiles()).at(-1)?.replace(/\.sql$/, '') ?? '';
  const table = `${tx.ledger}.migration`;
  const { rows } = await tx.query<{ exists: boolean }>('select pg_catalog.to_regclass($1) is not null as exists', [
    table,
  ]);
  const newest = rows[0]?.exists
    ? await tx.query<{ name: string }>(`select name from ${table} order by name desc limit 1`)
    : undefined;
  const found = newest?.rows[0]?.name;
  if (found !== undefined && found >= wanted) return;
  const where =
    tx.ledger === quoteIdentifier(DEFAULT_LEDGER) ? 'this database' : `schema ${tx.ledger} of this database`;
  const is =
    found === undefined
      ? `There is no ledger in ${where}`
      : `The ledger of ${where} is at ${found}, and this worker needs ${wanted}`;
  throw new BackfillError({
    type: FailureType.LedgerOutdated,
    message: `${is}; run "backfill migrate" as the owner of the database`,
  });
}

async function migrationFiles(): Promise<string[]> {
  return (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort();
}
