import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { quoteIdentifier } from '../domain/table-name.js';
import { type Begun, type Opened, OWN_PATH, type TransactionOptions, begin, sendAll } from './begin.js';
import type { Database, Tx } from './database.js';
import { sqlStateOf } from './server-error.js';
import { stopOnAbort } from './stop-on-abort.js';

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
  work: (tx: Tx, opened: Opened) => Promise<T>,
): Promise<T> {
  options.signal?.throwIfAborted();
  const client = await database.pool.connect();
  const stopper = stopOnAbort(database, client, options.signal);
  let usable = false;
  let begun: Begun | undefined;
  try {
    // Aborted while it waited for a connection.
    options.signal?.throwIfAborted();
    begun = await begin(client, options, database);
    stopper.runs(begun);
    const result = await work(transactionOn(client, database.ledger, userPath(options, begun)), begun.opened);
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
    const isClean = usable && (!options.runsUserSql || begun === undefined || (await empty(client, begun)));
    client.release(!isClean);
  }
}

function transactionOn(client: pg.PoolClient, ledger: string, path: string): Tx {
  const query: Tx['query'] = (text, values) => client.query(text, values as unknown[]);
  const find = (names: string) => `select pg_catalog.set_config('search_path', ${pg.escapeLiteral(names)}, true)`;
  return {
    ledger,
    query,
    async queryOne(text) {
      // The driver's types do not know the mode.
      const query: pg.QueryConfig & { readonly queryMode: 'extended' } = { text, queryMode: 'extended' };
      await client.query(query);
    },
    copyIn: (text) => client.query(copyFrom(text)),
    copyOut: (text) => client.query(copyTo(text)),
    async asUser(work) {
      await query(find(path));
      const result = await work();
      // After an error the transaction is over, or rolled back to a savepoint, and the path with it.
      await query(find(OWN_PATH));
      return result;
    },
    async goOnAsUser(...statements) {
      const results = await sendAll(client, [find(path), ...statements]);
      return results.slice(1).map(({ rowCount }) => rowCount ?? 0);
    },
    async goOnAsSelf() {
      await query(find(OWN_PATH));
    },
  };
}

/**
 * Empties a session in which SQL of a definition ran. A new one costs five to fifteen milliseconds, emptying it a tenth of
 * one. What a pooler gave is not ours to empty: by now it may serve a stranger, whose prepared statements would go. There
 * the way to the pooler is closed, which empties its session by its own rules.
 */
async function empty(client: pg.PoolClient, { pid }: Begun): Promise<boolean> {
  if (pid !== (client as pg.PoolClient & { processID: number }).processID) return false;
  return client.query('discard all').then(
    () => true,
    () => false,
  );
}

function userPath({ searchPath }: TransactionOptions, { rolePath }: Begun): string {
  return searchPath ? [...searchPath, 'pg_temp'].map(quoteIdentifier).join(', ') : rolePath;
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
