import type pg from 'pg';
import { type Finding, ok, warning } from '../../domain/finding.js';
import type { Database } from '../database.js';

/**
 * Whether something between us and PostgreSQL gives out its sessions. It hands the client a number of its own, which is
 * not that of the server's process; and where a setting made for the whole session meets another session in the next
 * statement, it gives them out by the transaction. Two clients are needed to see that: one alone gets the same again.
 */
export async function examinePooler({ pool }: Database): Promise<Finding> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_catalog.pg_backend_pid() as pid');
    if (rows[0]?.pid === (client as pg.PoolClient & { processID: number }).processID) {
      return ok('pooler', 'No connection pooler in between');
    }
    const mode = hasRoom(pool) ? await findMode(pool, client) : 'by session or transaction';
    return warning('pooler', `A connection pooler is in between: ${mode}`, remedy);
  } finally {
    client.release();
  }
}

const remedy =
  'Backfills work: every transaction makes its own settings. Give "backfill migrate" the address of PostgreSQL itself, and count its own limit of connections against the pool of the workers.';

/** Waiting for a connection while one is held could be for ever. */
function hasRoom({ options, totalCount, idleCount, waitingCount }: pg.Pool): boolean {
  return waitingCount === 0 && totalCount - idleCount < (options.max ?? 10);
}

/** A setting that nobody knows, made and taken back. */
const PROBE = 'backfill.probe';

async function findMode(pool: pg.Pool, one: pg.PoolClient): Promise<string> {
  const other = await pool.connect();
  try {
    await one.query(`set ${PROBE} = 'one'`);
    await other.query(`set ${PROBE} = 'other'`);
    const { rows } = await one.query<{ probe: string | null }>(
      `select pg_catalog.current_setting('${PROBE}', true) as probe`,
    );
    return rows[0]?.probe === 'one' ? 'sessions of one client each' : 'a session for each transaction';
  } finally {
    await one.query(`reset ${PROBE}`);
    await other.query(`reset ${PROBE}`);
    other.release();
  }
}
