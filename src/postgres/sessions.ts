import { BackfillError, FailureType } from '../domain/failure.js';
import type { Tx } from './database.js';
import { sqlStateOf } from './server-error.js';

/** How a session that writes a partition is called in pg_stat_activity: 3 + 36 + 1 bytes and the key, at most 63. */
export function sessionName(planId: string, key: string): string {
  return `bf:${planId}:${key}`;
}

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Ends sessions that still write under a plan, or one key of it, but our own. An attempt that Temporal has given up on
 * may go on for as long as its SQL takes: nothing tells a process that its time is over.
 * @throws {BackfillError} Transient: one of another role, which may still end by itself
 */
export async function endSessions(tx: Tx, planId: string, key?: string): Promise<void> {
  const ending = tx.query(
    `select pg_catalog.pg_terminate_backend(pid, 5000) from pg_catalog.pg_stat_activity
      where ${key === undefined ? 'pg_catalog.starts_with(application_name, $1)' : 'application_name = $1'}
        and pid <> pg_catalog.pg_backend_pid() and datname = pg_catalog.current_database()`,
    [sessionName(planId, key ?? '')],
  );
  await ending.catch((error: unknown) => {
    if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new BackfillError({
      type: FailureType.Transient,
      message: `A session of another role still writes under plan ${planId}, and this worker's may not end it; end it (pg_stat_activity shows it as ${sessionName(planId, key ?? '')}), or grant pg_signal_backend to this role`,
    });
  });
}
