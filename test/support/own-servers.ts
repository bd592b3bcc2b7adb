import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownFolder } from '../../src/dev/owner.js';
import { choosePorts } from '../../src/dev/ports.js';
import { type PostgresServer, startPostgresServer } from '../../src/dev/postgres-server.js';
import { writePrivateJson } from '../../src/dev/private-json.js';
import { type TemporalServer, startTemporalServer } from '../../src/dev/temporal-server.js';
import { migrateLedger } from '../../src/postgres/migrate.js';
import { type TestDatabase, createDatabase } from './database.js';

/** A folder for servers of one test. The global setup knows its name, and clears up what a killed test run left. */
export interface ServerFolder {
  readonly path: string;
  remove(): void;
}

export async function createServerFolder(): Promise<ServerFolder> {
  const path = mkdtempSync(join(tmpdir(), 'backfill-tests-'));
  // Root's PostgreSQL runs under another user, who has to pass through.
  chmodSync(path, 0o711);
  const release = ownFolder(path);
  const [grpc, ui, port] = [await choosePort(), await choosePort(), await choosePort()];
  writePrivateJson(join(path, 'temporal.json'), { grpc, ui });
  writePrivateJson(join(path, 'postgres.json'), { port });
  return {
    path,
    remove() {
      release();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/**
 * Below the ports that systems give to whoever asks for any (32768 and up on Linux): one of those may be someone else's
 * connection by the time that a killed server wants it back.
 */
async function choosePort(): Promise<number> {
  for (;;) {
    const wish = randomInt(20_000, 30_000);
    if ((await choosePorts([wish]))[0] === wish) return wish;
  }
}

/** With a database file. Started again, it has the same port and the same data. */
export function startOwnTemporal({ path }: ServerFolder, cli: string): Promise<TemporalServer> {
  return startTemporalServer({ cli, folder: path, durable: true });
}

/** Started again, it has the same port and the same data. */
export function startOwnPostgres({ path }: ServerFolder): Promise<PostgresServer> {
  return startPostgresServer({ folder: path, database: 'ledger', settings: ['fsync=off', 'full_page_writes=off'] });
}

/** A database with an empty ledger on a server that was just made. */
export async function createOwnDatabase(server: PostgresServer): Promise<TestDatabase> {
  await migrateLedger({ databaseUrl: server.url() });
  return createDatabase({ adminUrl: server.url('postgres'), template: 'ledger' });
}
