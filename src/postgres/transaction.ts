import type pg from 'pg';
import type { Timeouts } from '../domain/definition.js';
import { quoteIdentifier } from '../domain/table-name.js';
import type { Database, Tx } from './database.js';
import { sqlStateOf } from './server-error.js';

export interface TransactionOptions {
  /** Shown in pg_stat_activity while it runs; at most 63 bytes. */
  readonly applicationName: string;
  readonly timeouts: Pick<Timeouts, 'attemptMs' | 'lockMs'>;
  readonly searchPath?: readonly string[] | null;
  readonly readOnly?: boolean;
  /** It runs SQL of a definition, which may leave settings and temporary tables in its session: nobody uses that again. */
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
    await client.query(beginText(options));
    const result = await work(client);
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
    client.release(!usable || options.runsUserSql === true);
  }
}

function beginText({ applicationName, timeouts, searchPath, readOnly }: TransactionOptions): string {
  const settings = {
    application_name: applicationName,
    statement_timeout: `${timeouts.attemptMs}ms`,
    lock_timeout: `${timeouts.lockMs}ms`,
    ...(searchPath ? { search_path: [...searchPath, 'pg_temp'].map(quoteIdentifier).join(', ') } : {}),
  };
  const sets = Object.entries(settings).map(([name, value]) => `set local ${name} = ${literal(name, value)}`);
  return [`begin isolation level read committed ${readOnly ? 'read only' : 'read write'}`, ...sets].join('; ');
}

function literal(name: string, value: string): string {
  return name === 'search_path' ? value : `'${value.replaceAll("'", "''")}'`;
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
  const stop = (): void => {
    const { processID } = client as pg.PoolClient & { processID: number };
    stopping = database.cancelQuery(processID).catch(() => {
      // The other way out: a closed socket is noticed within client_connection_check_interval.
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    });
  };
  signal?.addEventListener('abort', stop, { once: true });
  return {
    async end(): Promise<void> {
      signal?.removeEventListener('abort', stop);
      await stopping;
    },
  };
}
