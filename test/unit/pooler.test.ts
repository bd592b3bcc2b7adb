import { expect, it } from 'vitest';
import type { Database } from '../../src/postgres/database.js';
import { examinePooler } from '../../src/postgres/doctor/pooler.js';

interface Between {
  /** What the clients are told of their session, and what PostgreSQL says of it. */
  readonly told: number;
  readonly pid: number;
  /** Settings of the sessions: one for all clients, or one each. */
  readonly sessions: 'shared' | 'own';
  readonly max?: number;
}

/** A pool whose clients speak through something. */
function databaseBehind({ told, pid, sessions, max = 2 }: Between): Database {
  const shared = new Map<string, string>();
  let held = 0;
  const connect = async () => {
    if (++held > max) throw new Error('No connection is left');
    const own = sessions === 'shared' ? shared : new Map<string, string>();
    return {
      processID: told,
      release: () => void held--,
      async query(text: string) {
        const [, value] = /^set \S+ = '(\w+)'$/.exec(text) ?? [];
        if (value !== undefined) own.set('probe', value);
        return { rows: [{ pid, probe: own.get('probe') ?? null }] };
      },
    };
  };
  const pool = {
    options: { max },
    totalCount: 1,
    get idleCount() {
      return 1 - held;
    },
    waitingCount: 0,
    connect,
  };
  return { pool } as unknown as Database;
}

it.each<[what: string, between: Between, finding: object]>([
  ['nothing', { told: 7, pid: 7, sessions: 'own' }, { level: 'ok' }],
  [
    'a pooler by session',
    { told: 99, pid: 7, sessions: 'own' },
    { level: 'warning', found: expect.stringContaining('sessions of one client each') },
  ],
  [
    'a pooler by transaction',
    { told: 99, pid: 7, sessions: 'shared' },
    { level: 'warning', found: expect.stringContaining('a session for each transaction') },
  ],
  [
    'a pooler, and no second connection to ask with',
    { told: 99, pid: 7, sessions: 'shared', max: 1 },
    { level: 'warning', found: expect.stringContaining('by session or transaction') },
  ],
])('between us and PostgreSQL: %s', async (_, between, finding) => {
  expect(await examinePooler(databaseBehind(between))).toMatchObject({ check: 'pooler', ...finding });
});
