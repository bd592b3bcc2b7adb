import type pg from 'pg';
import type { Timeouts } from '../domain/definition.js';
import { quoteIdentifier } from '../domain/table-name.js';
import type { Database, RunningTransaction, Tx } from './database.js';
import { sqlStateOf } from './server-error.js';

export interface TransactionOptions {
  /** Shown in pg_stat_activity while it runs; at most 63 bytes. */
  readonly applicationName: string;
  readonly timeouts: Pick<Timeouts, 'attemptMs' | 'lockMs'>;
  /** Schemas in which SQL of a definition finds its names; null for the role's own. */
  readonly searchPath?: readonly string[] | null;
  readonly readOnly?: boolean;
  /** It runs SQL of a definition, which may leave settings, locks and temporary tables in its session: it is emptied. */
  readonly runsUserSql?: boolean;
  /** Stops the running query, and rolls back. */
  readonly signal?: AbortSignal | undefined;
}

/** The commit was sent and no answer came: only the ledger knows whether it happened. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown';
}

/**
 * Runs `work` in one transaction, read committed: under repeatable read its snapshot would be older than the lock it
 * waited for. The commit is a message of its own, because a client killed after sending `…; commit` in one message
 * cannot take it back (measured: committed two seconds after the client's death).
 * @throws {CommitUnknown} the connection was lost while committing
 * @throws the signal's reason when it was aborted; else what PostgreSQL said
 */
export async function inTransaction<T>(
  database: Database,
  options: TransactionOptions,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  options.signal?.throwIfAborted();
  const client = await database.pool.connect();
  const stopper = stopOnAbort(database, client, options.signal);
  let usable = false;
  try {
    // Aborted while it waited for a connection.
    options.signal?.throwIfAborted();
    const begun = await begin(client, beginText(options, database));
    stopper.runs(begun);
    const result = await work(transactionOn(client, database.ledger, userPath(options, begun)));
    options.signal?.throwIfAborted();
    await commit(client);
    usable = true;
    return result;
  } catch (error) {
    usable = await rollback(client);
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    // Waited for, so that a late cancel cannot hit the next user of this session.
    await stopper.end();
    await giveBack(client, usable, options);
  }
}

function transactionOn(client: pg.PoolClient, ledger: string, path: string): Tx {
  const query: Tx['query'] = (text, values) => client.query(text, values as unknown[]);
  const find = (names: string) => query(`select pg_catalog.set_config('search_path', $1, true)`, [names]);
  return {
    ledger,
    query,
    async asUser(work) {
      await find(path);
      const result = await work();
      // After an error the transaction is over, or rolled back to a savepoint, and the path with it.
      await find(OWN_PATH);
      return result;
    },
  };
}

/** A new session costs five to fifteen milliseconds, emptying one less than one. */
async function giveBack(client: pg.PoolClient, usable: boolean, { runsUserSql }: TransactionOptions): Promise<void> {
  const isClean = usable && (!runsUserSql || (await client.query('discard all').then(yes, no)));
  client.release(!isClean);
}

const yes = () => true;
const no = () => false;

/** Named last: unnamed, the schema of temporary tables is searched first. */
const OWN_PATH = 'pg_catalog, pg_temp';

function userPath({ searchPath }: TransactionOptions, { rolePath }: Begun): string {
  return searchPath ? [...searchPath, 'pg_temp'].map(quoteIdentifier).join(', ') : rolePath;
}

interface Begun extends RunningTransaction {
  /** The search path that the session's role, database or pooler gives it. */
  readonly rolePath: string;
}

/**
 * Settings of every transaction. Text forms of dates, intervals and floats must not depend on the role's or the
 * database's settings, because bounds travel as text. `row_security = off` makes a filtered DELETE an error (42501)
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
  row_security: 'off',
  synchronous_commit: 'on',
  idle_in_transaction_session_timeout: '60s',
};

/** Ends the query of a client that was killed, within two seconds. */
const NOTICE_LOST_CLIENTS = { client_connection_check_interval: '2s' };

/** One message: begin, the settings, and what a cancel needs to know of the transaction. */
function beginText(options: TransactionOptions, { noticesLostClients }: Database): string {
  const { applicationName, timeouts, readOnly } = options;
  const settings = {
    application_name: applicationName,
    ...SETTINGS,
    ...(noticesLostClients ? NOTICE_LOST_CLIENTS : {}),
    statement_timeout: `${timeouts.attemptMs}ms`,
    lock_timeout: `${timeouts.lockMs}ms`,
  };
  const sets = Object.entries(settings).map(([name, value]) => `set local ${name} = '${value.replaceAll("'", "''")}'`);
  const mode = readOnly ? 'read only' : 'read write';
  return [
    `begin isolation level read committed ${mode}`,
    `select pg_catalog.current_setting('search_path') as "rolePath"`,
    `set local search_path = ${OWN_PATH}`,
    ...sets,
    `select pg_backend_pid() as pid, now()::text as "startedAt"`,
  ].join('; ');
}

async function begin(client: pg.PoolClient, text: string): Promise<Begun> {
  // One result a statement: the driver's types know of one only.
  const results = (await client.query(text)) as unknown as readonly pg.QueryResult<Partial<Begun>>[];
  const { rolePath, pid, startedAt } = { ...results[1]?.rows[0], ...results.at(-1)?.rows[0] };
  if (rolePath === undefined || pid === undefined || startedAt === undefined)
    throw new Error('PostgreSQL began no transaction');
  return { rolePath, pid, startedAt };
}

async function commit(client: pg.PoolClient): Promise<void> {
  let command: string;
  try {
    ({ command } = await client.query('commit'));
  } catch (error) {
    // A commit that the server refuses (a deferred constraint) carries a SQLSTATE and is known to have failed.
    const sqlstate = sqlStateOf(error);
    if (sqlstate !== undefined && !/^(?:08|57)/.test(sqlstate)) throw error;
    throw new CommitUnknown('The connection was lost while committing; the ledger will tell', { cause: error });
  }
  // COMMIT of a failed transaction succeeds, with another command tag.
  if (command !== 'COMMIT') throw new Error(`PostgreSQL answered the commit with ${command}`);
}

/** Whether the session can be used again. */
async function rollback(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}

/** The driver knows no AbortSignal, and its `query_timeout` only stops waiting: the server would go on. */
function stopOnAbort(database: Database, client: pg.PoolClient, signal: AbortSignal | undefined) {
  let stopping: Promise<void> = Promise.resolve();
  let running: RunningTransaction | undefined;
  const stop = (): void => {
    stopping = cancelInTime(database, running).catch(() => {
      // The other way out: a closed socket is noticed within client_connection_check_interval.
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    });
  };
  signal?.addEventListener('abort', stop, { once: true });
  return {
    runs(transaction: RunningTransaction): void {
      running = transaction;
    },
    async end(): Promise<void> {
      signal?.removeEventListener('abort', stop);
      await stopping;
    },
  };
}

/** A pooler whose sessions are all taken, by us perhaps, makes a cancel wait until one of them is done. */
const CANCEL_MS = 2000;

async function cancelInTime(database: Database, running: RunningTransaction | undefined): Promise<void> {
  if (!running) throw new Error('It has not begun');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The cancel does not get through')), CANCEL_MS);
  });
  await Promise.race([database.cancel(running), late]).finally(() => clearTimeout(timer));
}
