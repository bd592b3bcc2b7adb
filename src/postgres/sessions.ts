import type { Tx } from './database.js';

/** How a session that writes a partition is called in pg_stat_activity: 3 + 36 + 1 bytes and the key, at most 63. */
export function sessionName(planId: string, key: string): string {
  return `bf:${planId}:${key}`;
}

/**
 * Ends sessions that still write under a plan, but our own. An attempt that Temporal has given up on may go on for as
 * long as its SQL takes: nothing tells a process that its time is over. That of one key is ended by the next one, see
 * `admissionTexts`.
 */
export async function endSessions(tx: Tx, planId: string): Promise<void> {
  await tx.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where starts_with(application_name, $1) and pid <> pg_backend_pid() and datname = current_database()`,
    [sessionName(planId, '')],
  );
}
