import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { startStack } from '../src/dev/stack.js';
import { migrateLedger } from '../src/postgres/migrate.js';

/** Where a scenario is measured. */
export interface Servers {
  readonly temporalAddress: string;
  /** Of the namespace in which the runs are. */
  readonly temporal: Client;
  /** A database with an empty ledger, new for each call. */
  createDatabase(): Promise<BenchDatabase>;
}

export interface BenchDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export interface OwnServers extends Servers {
  readonly temporalCli: string;
  stop(): Promise<void>;
}

/** Nothing is set that makes writes faster than they are. The statistics are read for a profile, and cost both alike. */
const SETTINGS = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track_planning=on'];

/** The embedded stack of `backfill dev`, in a folder of its own that goes with it. */
export async function startServers(log: (line: string) => void): Promise<OwnServers> {
  const folder = mkdtempSync(join(tmpdir(), 'backfill-bench-'));
  // Root's PostgreSQL runs under another user, who has to pass through.
  chmodSync(folder, 0o711);
  const stack = await startStack({ folder, log, postgres: { settings: SETTINGS } });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  let made = 0;
  return {
    temporalAddress: stack.temporalAddress,
    temporal: new Client({ connection }),
    temporalCli: stack.temporalCli,
    async createDatabase() {
      const name = `bench_${++made}`;
      const admin = async (text: string) => withClient(stack.databaseUrl, (db) => db.query(text));
      await admin(`create database ${name}`);
      const url = Object.assign(new URL(stack.databaseUrl), { pathname: `/${name}` }).href;
      await withClient(url, (db) => db.query('create extension pg_stat_statements'));
      await migrateLedger({ databaseUrl: url });
      return { url, drop: async () => void (await admin(`drop database ${name} with (force)`)) };
    },
    async stop() {
      await connection.close();
      await stack.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A connection for one piece of work. */
export async function withClient<T>(url: string, work: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}
