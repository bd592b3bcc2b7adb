import type { Client } from '@temporalio/client';
import type { TestDatabase } from './database.js';
import type { Harness } from './harness.js';

/** Everything that a refused request must leave as it is: tables, the ledger's rows, and runs that are open. */
export interface Traces {
  readonly relations: readonly string[];
  readonly ledgerRows: number;
  readonly openRuns: readonly string[];
}

export async function readTraces({ db, temporal }: Harness): Promise<Traces> {
  const relations = await db.query<{ name: string }>(
    `select format('%s %s %s', c.oid, relname, relfilenode) as name from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname !~ '^(pg_|information_schema)' order by c.oid`,
  );
  return {
    relations: relations.rows.map(({ name }) => name),
    ledgerRows: await countLedger(db),
    openRuns: await openRuns(temporal),
  };
}

/** The list lags behind: a run that has just ended may still be in it, so that each is asked for itself. */
async function openRuns({ workflow }: Client): Promise<string[]> {
  const open: string[] = [];
  for await (const { workflowId, runId } of workflow.list({ query: `ExecutionStatus = 'Running'` })) {
    const { status } = await workflow.getHandle(workflowId, runId).describe();
    if (status.name === 'RUNNING') open.push(workflowId);
  }
  return open;
}

async function countLedger(db: TestDatabase): Promise<number> {
  const tables = ['plan', 'plan_partition', 'run', 'partition', 'replacement', 'failure'];
  const counts = tables.map((name) => `(select count(*) from backfill.${name})`).join(' + ');
  const { rows } = await db.query<{ n: string }>(`select ${counts} as n`);
  return Number(rows[0]?.n);
}
