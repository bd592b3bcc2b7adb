import type { TestDatabase } from './database.js';
import { until } from './wait.js';

/** A replacement at work, as `pg_stat_activity` shows it. */
export interface Session {
  readonly pid: number;
  readonly planId: string;
  readonly key: string;
  /** A statement is running. */
  readonly isActive: boolean;
  readonly waitEvent: string | null;
  readonly query: string;
}

/** By key, then by pid. */
export async function runSessions(db: TestDatabase): Promise<Session[]> {
  const { rows } = await db.query<Session>(
    `select pid, split_part(application_name, ':', 2) as "planId", split_part(application_name, ':', 3) as key,
            state = 'active' as "isActive", wait_event as "waitEvent", query
       from pg_stat_activity where datname = current_database() and application_name like 'bf:%' order by 3, 1`,
  );
  return rows;
}

/** Waits until the SQL of a key is running and stands at its gate. */
export function untilAtGate(db: TestDatabase, key: string, except?: Session, deadlineMs?: number): Promise<Session> {
  const look = async () => {
    const sessions = await runSessions(db);
    return sessions.find(
      (one) => one.key === key && one.pid !== except?.pid && one.isActive && one.waitEvent === 'PgSleep',
    );
  };
  return until(`the build of ${key} at its gate`, look, deadlineMs);
}

/** Waits until exactly these keys stand at their gates, and returns those that are at work. */
export async function untilAllAtGates(db: TestDatabase, keys: readonly string[]): Promise<string[]> {
  for (const key of keys) await untilAtGate(db, key);
  return (await runSessions(db)).map(({ key }) => key);
}

export async function hasSession(db: TestDatabase, { pid }: Session): Promise<boolean> {
  const { rowCount } = await db.query('select from pg_stat_activity where pid = $1', [pid]);
  return rowCount === 1;
}
