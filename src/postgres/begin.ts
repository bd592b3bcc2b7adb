import pg from 'pg';
import type { Timeouts } from '../domain/definition.js';
import type { Database, RunningTransaction } from './database.js';

export interface TransactionOptions {
  /** Shown in pg_stat_activity while it runs; at most 63 bytes. */
  readonly applicationName: string;
  readonly timeouts: Pick<Timeouts, 'attemptMs' | 'lockMs'>;
  /** Schemas in which SQL of a definition finds its names; null for the role's own. */
  readonly searchPath?: readonly string[] | null;
  readonly readOnly?: boolean;
  /** It runs SQL of a definition, which may leave settings, locks and temporary tables in its session: it is emptied. */
  readonly runsUserSql?: boolean;
  /** Statements that travel with the begin, as text: `work` is given the rows of each. */
  readonly opening?: readonly string[];
  /** Stops the running query, and rolls back. */
  readonly signal?: AbortSignal | undefined;
}

/** Named last: unnamed, the schema of temporary tables is searched first. */
export const OWN_PATH = 'pg_catalog, pg_temp';

/** The rows of each opening statement. */
export type Opened = readonly (readonly unknown[])[];

export interface Begun extends RunningTransaction {
  /** The search path that the session's role, database or pooler gives it. */
  readonly rolePath: string;
  readonly opened: Opened;
}

/**
 * Settings of every transaction. Text forms of dates, intervals, floats and names must not depend on the role's or
 * the database's settings, because bounds and the catalog's words travel as text. `row_security = off` makes a filtered DELETE an error (42501)
 * instead of a DELETE of the visible rows only, after which the insert would double the others.
 */
const SETTINGS = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  // A generic plan locks every partition of the table.
  plan_cache_mode: 'auto',
  row_security: 'off',
  synchronous_commit: 'on',
  idle_in_transaction_session_timeout: '60s',
};

/** From PostgreSQL 17 on a role may have one. The time of an attempt is the definition's. */
const NO_TRANSACTION_TIMEOUT = `case when current_setting('server_version_num')::int >= 170000
  then set_config('transaction_timeout', '0', true) end`;

/** Ends the query of a client that was killed, within two seconds. */
const NOTICE_LOST_CLIENTS = { client_connection_check_interval: '2s' };

/** One message: begin, the settings, what a cancel needs to know of the transaction, and what it opens with. */
export async function begin(client: pg.PoolClient, options: TransactionOptions, database: Database): Promise<Begun> {
  const { readOnly, opening = [] } = options;
  const settings = Object.entries({ search_path: OWN_PATH, ...settingsOf(options, database) });
  const setTexts = settings.map(
    ([name, value]) => `pg_catalog.set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, true)`,
  );
  const first = [
    `begin isolation level read committed ${readOnly ? 'read only' : 'read write'}`,
    `select pg_catalog.current_setting('search_path') as "rolePath"`,
    // One statement: fifteen of their own took as long as the record in the ledger.
    `select ${setTexts.join(', ')}`,
    `select pg_backend_pid() as pid, now()::text as "startedAt", ${NO_TRANSACTION_TIMEOUT}`,
  ];
  const results = await sendAll(client, [...first, ...opening]);
  const rowsOf = (i: number): readonly unknown[] => results[i]?.rows ?? [];
  const begun: Partial<Begun> = Object.assign({}, rowsOf(1)[0], rowsOf(first.length - 1)[0]);
  const { rolePath, pid, startedAt } = begun;
  if (rolePath === undefined || pid === undefined || startedAt === undefined)
    throw new Error('PostgreSQL began no transaction');
  return { rolePath, pid, startedAt, opened: opening.map((_, i) => rowsOf(first.length + i)) };
}

function settingsOf({ applicationName, timeouts }: TransactionOptions, { noticesLostClients }: Database) {
  return {
    application_name: applicationName,
    ...SETTINGS,
    ...(noticesLostClients ? NOTICE_LOST_CLIENTS : {}),
    statement_timeout: `${timeouts.attemptMs}ms`,
    lock_timeout: `${timeouts.lockMs}ms`,
  };
}

/** Several statements in one message. The driver's types know of one result only. */
export async function sendAll(
  client: pg.PoolClient,
  statements: readonly string[],
): Promise<readonly pg.QueryResult[]> {
  const results: unknown = await client.query(statements.join(';\n'));
  return (Array.isArray(results) ? results : [results]) as readonly pg.QueryResult[];
}
