import { BackfillError, FailureType } from '../domain/failure.js';
import type { Tx } from './database.js';
import { sqlStateOf } from './server-error.js';

/** How a session that writes a partition is called in pg_stat_activity: 3 + 36 + 1 bytes and the key, at most 63. */
export function sessionName(planId: string, key: string): string {
  return `bf:${planId}:${key}`;
}

/**
 * Ends sessions that still write under a plan, but our own. An attempt that Temporal has given up on may go on for as
 * long as its SQL takes: nothing tells a process that its time is over. That of one key is ended by the next one, see
 * `admissionTexts`.
 * @throws {BackfillError} Transient: one of another role, which may still end by itself
 */
export async function endSessions(tx: Tx, planId: string): Promise<void> {
  const ending = tx.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where starts_with(application_name, $1) and pid <> pg_backend_pid() and datname = current_database()`,
    [sessionName(planId, '')],
  );
  await ending.catch((error: unknown) => {
    throw notOursToEnd(error, planId);
  });
}

/** Words for a session that this worker's role may not end; any other error as it is. */
export function notOursToEnd(error: unknown, planId: string, key = ''): unknown {
  const { routine } = (error ?? {}) as { readonly routine?: unknown };
  // Rights that are missing elsewhere have the same SQLSTATE.
  if (sqlStateOf(error) !== '42501' || routine !== 'pg_terminate_backend') return error;
  return new BackfillError({
    type: FailureType.Transient,
    message: `A session of another role still writes under plan ${planId}, and this worker's may not end it; end it (pg_stat_activity shows it as ${sessionName(planId, key)}), or grant pg_signal_backend to this role`,
  });
}
