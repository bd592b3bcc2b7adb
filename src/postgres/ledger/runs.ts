import type { BackfillResult, RunRecord } from '../../domain/outcome.js';
import type { Tx } from '../database.js';
import type { Span } from './claims.js';
import { readFirstFailures } from './failures.js';
import { readKeptUntil } from './kept.js';
import { PAGE_SIZE } from './plan-pages.js';
import { changesOf } from './replacements.js';

export interface RunRow {
  readonly planId: string;
  readonly workflowId: string;
  readonly executionId: string;
  readonly state: RunRecord['state'];
  /** Of Temporal; null for a run of before that was recorded. */
  readonly namespace: string | null;
  readonly namespaceId: string | null;
}

export async function findRun(tx: Tx, planId: string): Promise<RunRow | null> {
  const { rows } = await tx.query<RunRow>(
    `select plan_id as "planId", workflow_id as "workflowId", execution_id as "executionId", state, namespace, namespace_id as "namespaceId"
       from ${tx.ledger}.run where plan_id = $1`,
    [planId],
  );
  return rows[0] ?? null;
}

export interface OpeningRun {
  readonly planId: string;
  readonly table: string;
  readonly workflowId: string;
  readonly executionId: string;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  readonly span: Span;
  /** Of Temporal. */
  readonly namespace: { readonly name: string; readonly id: string };
}

/**
 * Opens the run of a plan for an execution, also one that was closed, or that another execution left open. From then on
 * no attempt of another execution can commit.
 * @param instead the execution that was found there, null for none
 * @throws an error that `isClaimed` knows, where another open run has a part of the range
 * @returns false where yet another execution was faster
 */
export async function openRun(tx: Tx, run: OpeningRun, instead: string | null): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into ${tx.ledger}.run as r (plan_id, table_name, workflow_id, execution_id, state, requested_by, reason, span,
                                         namespace, namespace_id)
     values ($1, $2, $3, $4, 'open', $5, $6, pg_catalog.tstzrange($8, $9), $10, $11)
     on conflict (plan_id) do update
        set workflow_id = excluded.workflow_id, execution_id = excluded.execution_id, span = excluded.span,
            namespace = excluded.namespace, namespace_id = excluded.namespace_id, state = 'open', closed_at = null
      where r.execution_id in (excluded.execution_id, $7)`,
    [
      run.planId,
      run.table,
      run.workflowId,
      run.executionId,
      run.requestedBy,
      run.reason,
      instead,
      run.span.start,
      run.span.end,
      run.namespace.name,
      run.namespace.id,
    ],
  );
  return rowCount === 1;
}

/**
 * Ends the right to write. Waits for a replacement that is being committed. Closing twice changes nothing, but that an
 * execution that was reset after it had failed may complete after all.
 */
export async function closeRun(
  tx: Tx,
  run: { readonly planId: string; readonly executionId: string; readonly state: Exclude<RunRecord['state'], 'open'> },
): Promise<void> {
  await tx.query(
    `update ${tx.ledger}.run set state = $3, closed_at = pg_catalog.clock_timestamp()
      where plan_id = $1 and execution_id = $2 and (state = 'open' or ($3 = 'completed' and state <> $3))`,
    [run.planId, run.executionId, run.state],
  );
}

export interface RunTotals {
  /** Partitions to write under the plan, and those written. */
  readonly total: number;
  readonly done: number;
  readonly rowsBefore: number;
  readonly rowsAfter: number;
  readonly changes: BackfillResult['changes'];
  readonly emptied: { readonly key: string; readonly rowsBefore: number }[];
  /** ISO 8601; null where nothing is kept. */
  readonly keptUntil: string | null;
}

interface TotalsRow {
  readonly total: string;
  readonly done: string;
  readonly before: string;
  readonly after: string;
  readonly compared: string;
  readonly added: string | null;
  readonly removed: string | null;
  readonly changed: string | null;
  readonly comparedAfter: string | null;
}

export async function readTotals(tx: Tx, planId: string): Promise<RunTotals> {
  const { rows } = await tx.query<TotalsRow>(
    `select pg_catalog.count(*) as total, pg_catalog.count(r.key) as done,
            coalesce(pg_catalog.sum(r.rows_before), 0) as before, coalesce(pg_catalog.sum(r.rows_after), 0) as after,
            pg_catalog.count(r.rows_added) as compared, pg_catalog.sum(r.rows_added) as added, pg_catalog.sum(r.rows_removed) as removed,
            pg_catalog.sum(r.rows_changed) as changed,
            pg_catalog.sum(r.rows_after) filter (where r.rows_added is not null) as "comparedAfter"
       from ${tx.ledger}.plan_partition pp left join ${tx.ledger}.replacement r using (plan_id, key)
      where plan_id = $1 and pp.action <> 'leave'`,
    [planId],
  );
  const emptied = await tx.query<{ key: string; before: string }>(
    `select r.key, r.rows_before as before from ${tx.ledger}.replacement r join ${tx.ledger}.plan_partition pp using (plan_id, key)
      where plan_id = $1 and r.rows_before > 0 and r.rows_after = 0 order by pp.seq limit 100`,
    [planId],
  );
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL counted nothing');
  const changes = changesOf(row.added, row.removed, row.changed, row.comparedAfter);
  return {
    total: Number(row.total),
    done: Number(row.done),
    rowsBefore: Number(row.before),
    rowsAfter: Number(row.after),
    changes: changes && { partitions: Number(row.compared), ...changes },
    emptied: emptied.rows.map((row) => ({ key: row.key, rowsBefore: Number(row.before) })),
    keptUntil: await readKeptUntil(tx, planId),
  };
}

/** Everything the ledger knows of a run; null where the plan was never run. */
export async function readRun(tx: Tx, planId: string): Promise<RunRecord | null> {
  const { rows } = await tx.query<Omit<RunRecord, 'total' | 'done' | 'replacements' | 'failures'>>(
    `select r.plan_id as "planId", r.table_name as "table", p.range_from as "from", p.range_to as "to",
            r.workflow_id as "workflowId", r.state, r.requested_by as "requestedBy", r.reason,
            r.opened_at as "openedAt", r.closed_at as "closedAt"
       from ${tx.ledger}.run r join ${tx.ledger}.plan p using (plan_id) where plan_id = $1`,
    [planId],
  );
  const run = rows[0];
  if (!run) return null;
  const { total, done } = await readTotals(tx, planId);
  return {
    ...run,
    openedAt: iso(run.openedAt),
    closedAt: run.closedAt === null ? null : iso(run.closedAt),
    total,
    done,
    replacements: await readReplacements(tx, planId),
    failures: await readFirstFailures(tx, planId),
  };
}

async function readReplacements(tx: Tx, planId: string): Promise<RunRecord['replacements']> {
  const { rows } = await tx.query<{
    key: string;
    action: 'create' | 'replace';
    before: string;
    after: string;
    generation: string;
    attempt: number;
    at: string;
    added: string | null;
    removed: string | null;
    changed: string | null;
  }>(
    `select r.key, r.action, r.rows_before as before, r.rows_after as after, r.generation, r.attempt, r.committed_at as at,
            r.rows_added as added, r.rows_removed as removed, r.rows_changed as changed
       from ${tx.ledger}.replacement r join ${tx.ledger}.plan_partition pp using (plan_id, key)
      where plan_id = $1 order by pp.seq limit $2`,
    [planId, PAGE_SIZE],
  );
  return rows.map(({ key, action, before, after, generation, attempt, at, added, removed, changed }) => ({
    key,
    status: action === 'create' ? 'created' : 'replaced',
    rowsBefore: Number(before),
    rowsAfter: Number(after),
    generation: Number(generation),
    changes: changesOf(added, removed, changed, after),
    attempt,
    committedAt: iso(at),
  }));
}

function iso(text: string): string {
  return new Date(text).toISOString();
}
