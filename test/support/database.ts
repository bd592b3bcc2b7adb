import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { dropDatabase, runOnce, withDatabase } from './admin.js';

/** A database of one test file, with an empty ledger. */
export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** Dates and timestamps come as text. */
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<pg.QueryResult<R>>;
  /** Ends every connection to it, also those of others. */
  drop(): Promise<void>;
}

const DATES_AND_TIMES = [1082, 1083, 1114, 1184, 1266];

const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  DATES_AND_TIMES.includes(oid)
    ? (text: string) => text
    : (pg.types.getTypeParser(oid, format) as (text: string) => unknown)) as typeof pg.types.getTypeParser;

/** A server, and the database on it that is cloned. */
interface Origin {
  readonly adminUrl: string;
  readonly template: string;
}

/** Clones the template: as quick as an empty database, and no test sees what another did. */
export async function createDatabase(
  { adminUrl, template }: Origin = { adminUrl: inject('databaseUrl'), template: inject('templateDatabase') },
): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOnce(adminUrl, `create database ${name} template ${template}`);
  const url = withDatabase(adminUrl, name);
  const pool = new pg.Pool({ connectionString: url, max: 4, types: { getTypeParser } });
  // Tests kill servers and sessions; the query that is hit fails all the same.
  pool.on('error', () => {});
  return {
    url,
    name,
    query: (text, values = []) => pool.query(text, [...values]),
    async drop() {
      await pool.end();
      await dropDatabase(adminUrl, name);
    },
  };
}
