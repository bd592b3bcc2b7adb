import type { TestDatabase } from './database.js';

export interface ReplacementRow {
  readonly key: string;
  readonly generation: number;
  readonly attempt: number;
  readonly started: string;
  readonly committed: string;
}

/** What the ledger records as replaced under a plan, by key. */
export async function replacements(db: TestDatabase, planId: string): Promise<ReplacementRow[]> {
  const { rows } = await db.query<ReplacementRow>(
    `select key, generation::int, attempt, started_at as started, committed_at as committed
       from backfill.replacement where plan_id = $1 order by key, generation`,
    [planId],
  );
  return rows;
}

export async function replacedKeys(db: TestDatabase, planId: string): Promise<string[]> {
  return (await replacements(db, planId)).map(({ key }) => key);
}

/** The ledger's words for a run: `open`, `completed`, `failed`, `cancelled`; undefined where it was never opened. */
export async function runState(db: TestDatabase, planId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ state: string }>('select state from backfill.run where plan_id = $1', [planId]);
  return rows[0]?.state;
}
