import type { Readable, Writable } from 'node:stream';
import pg from 'pg';
import { quoteIdentifier } from '../domain/table-name.js';
import { sqlStateOf } from './server-error.js';

/** The pool that does the work, and a way to reach a session of it from outside. */
export interface Database {
  readonly pool: pg.Pool;
  /** The ledger's schema, quoted. */
  readonly ledger: string;
  /** Whether the server's system can notice a client that is gone; undefined before the first connection. */
  readonly noticesLostClients: boolean | undefined;
  /** Stops the running query of a transaction, from a connection of its own. Nothing where it has ended. */
  cancel(running: RunningTransaction): Promise<void>;
  /** Whether it answers; from the connection that is kept free of work. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What tells a transaction from every other: the process of the server, and when it began there. */
export interface RunningTransaction {
  readonly pid: number;
  readonly startedAt: string;
}

/** What a statement needs: strategies and checks know no pool. */
export interface Tx {
  /** The ledger's schema, quoted: `${tx.ledger}.plan`. */
  readonly ledger: string;
  /**
   * Lets SQL of a definition find its names: by its own search path, or the role's. Everything else runs with the
   * system's names alone, because a schema before pg_catalog may hold another `>=`. What stands beside such SQL in one
   * statement names its operators in full: `operator(pg_catalog.>=)`.
   */
  asUser<T>(work: () => Promise<T>): Promise<T>;
  /**
   * The same from here to the end of the transaction, with the first statements in the message that makes it so: texts
   * without parameters. Returns how many rows each has touched.
   */
  goOnAsUser(...statements: readonly string[]): Promise<readonly number[]>;
  /** Back to the system's names alone. */
  goOnAsSelf(): Promise<void>;
  /** Runs one statement: a text of several is an error (42601). */
  queryOne(text: string): Promise<void>;
  /** Takes lines of text for `copy … from stdin`. */
  copyIn(text: string): Writable & { readonly rowCount: number };
  /** Gives the lines of `copy … to stdout`. */
  copyOut(text: string): Readable;
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: R[]; readonly rowCount: number | null }>;
}

export const DEFAULT_LEDGER = 'backfill';

export interface DatabaseOptions {
  /** A PostgreSQL connection URL; it is never part of an error. */
  readonly url: string;
  /** Connections for partitions at work. */
  readonly size: number;
  readonly ledgerSchema?: string | undefined;
}

const TEXT_TYPES = [1082, 1114, 1184, 1115, 1182, 1185];

/**
 * Dates and timestamps stay text: the driver's own parser makes a `date` a JavaScript Date at *local* midnight, which
 * prints as the day before east of Greenwich.
 */
const types = new pg.TypeOverrides();
for (const oid of TEXT_TYPES) types.setTypeParser(oid, (text) => text);

/**
 * Sessions keep no settings: behind a pooler a session is another one with each transaction, and what was set in it
 * would meet strangers. Every transaction sets its own, see `begin`.
 */
export function openDatabase({ url, size, ledgerSchema = DEFAULT_LEDGER }: DatabaseOptions): Database {
  let noticesLostClients: boolean | undefined;
  const onConnect = async (client: pg.ClientBase) => {
    // A lost connection is an 'error' event on top of the rejected query; without a listener it ends the process.
    client.on('error', ignore);
    noticesLostClients ??= await canNoticeLostClients(client);
  };
  const common = { connectionString: url, types, connectionTimeoutMillis: 10_000, keepAlive: true, onConnect };
  const pool = watch(new pg.Pool({ ...common, max: size, application_name: 'backfill' }));
  // Cancelling must work while every connection of the pool is busy. One is enough: it takes 15 ms.
  const control = watch(new pg.Pool({ ...common, max: 1, application_name: 'backfill control' }));
  return {
    pool,
    ledger: quoteIdentifier(ledgerSchema),
    get noticesLostClients() {
      return noticesLostClients;
    },
    async cancel({ pid, startedAt }) {
      // The driver's own number of the session is the pooler's, where there is one. And a late cancel must not hit the
      // next transaction that the process works for.
      await control.query(
        `select pg_catalog.pg_cancel_backend(pid) from pg_catalog.pg_stat_activity
          where pid = $1 and xact_start = $2::pg_catalog.timestamptz`,
        [pid, startedAt],
      );
    },
    async ping() {
      await control.query('select');
    },
    async close() {
      await Promise.all([pool.end(), control.end()]);
    },
  };
}

/** Outside a transaction the setting has no effect, but a server that cannot have it says so (22023). */
async function canNoticeLostClients(client: pg.ClientBase): Promise<boolean | undefined> {
  try {
    await client.query(`set local client_connection_check_interval = '2s'`);
    return true;
  } catch (error) {
    return sqlStateOf(error) === '22023' ? false : undefined;
  }
}

function watch(pool: pg.Pool): pg.Pool {
  pool.on('error', ignore);
  return pool;
}

function ignore(): void {}
