import pg from 'pg';

/** The pool that does the work, and a way to reach a session of it from outside. */
export interface Database {
  readonly pool: pg.Pool;
  /** Stops the running query of a session, from a connection of its own. */
  cancelQuery(processId: number): Promise<void>;
  close(): Promise<void>;
}

/** What a statement needs: strategies and checks know no pool. */
export interface Tx {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: R[]; readonly rowCount: number | null }>;
}

/**
 * Settings of every session. Text forms of dates, intervals and floats must not depend on the role's or the database's
 * settings, because bounds travel as text. `row_security = off` makes a filtered DELETE an error (42501) instead of a
 * DELETE of the visible rows only, after which the insert would double the others.
 */
const SESSION = `
  set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set extra_float_digits = 1;
  set bytea_output = 'hex'; set row_security = off; set synchronous_commit = on; set idle_in_transaction_session_timeout = '60s'`;

/** Ends the query of a client that was killed, within two seconds. Not every server's system can: then it is refused. */
const CHECK_CLIENT = `set client_connection_check_interval = '2s'`;

const TEXT_TYPES = [1082, 1114, 1184, 1115, 1182, 1185];

/**
 * Dates and timestamps stay text: the driver's own parser makes a `date` a JavaScript Date at *local* midnight, which
 * prints as the day before east of Greenwich.
 */
const types = new pg.TypeOverrides();
for (const oid of TEXT_TYPES) types.setTypeParser(oid, (text) => text);

/**
 * @param url a PostgreSQL connection URL; it is never part of an error
 * @param size connections for partitions at work
 */
export function openDatabase({ url, size }: { readonly url: string; readonly size: number }): Database {
  const common = { connectionString: url, types, connectionTimeoutMillis: 10_000, keepAlive: true, onConnect: prepare };
  const pool = watch(new pg.Pool({ ...common, max: size, application_name: 'backfill' }));
  // Cancelling must work while every connection of the pool is busy. One is enough: it takes 15 ms.
  const control = watch(new pg.Pool({ ...common, max: 1, application_name: 'backfill control' }));
  return {
    pool,
    async cancelQuery(processId) {
      await control.query('select pg_catalog.pg_cancel_backend($1)', [processId]);
    },
    async close() {
      await Promise.all([pool.end(), control.end()]);
    },
  };
}

async function prepare(client: pg.ClientBase): Promise<void> {
  // A lost connection is an 'error' event on top of the rejected query; without a listener it ends the process.
  client.on('error', ignore);
  await client.query(SESSION);
  await client.query(CHECK_CLIENT).catch(ignore);
}

function watch(pool: pg.Pool): pg.Pool {
  pool.on('error', ignore);
  return pool;
}

function ignore(): void {}
