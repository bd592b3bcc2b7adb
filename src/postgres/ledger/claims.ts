import type { Tx } from '../database.js';
import type { RunIdentity } from './admission.js';

/** A range of a table as half-open instants, ISO 8601. */
export interface Span {
  readonly table: string;
  readonly start: string;
  readonly end: string;
}

/** An open run that has a part of the range. */
export interface ClaimHolder {
  readonly planId: string;
  readonly workflowId: string;
  readonly executionId: string;
  readonly from: string;
  readonly to: string;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  readonly openedAt: string;
  /** The Temporal namespace of its execution; null for a run of before that was recorded. */
  readonly namespace: string | null;
  readonly namespaceId: string | null;
}

/** Open runs that overlap a range, but the asking one, oldest first. */
export async function findHolders(
  tx: Tx,
  { table, start, end }: Span,
  { planId, executionId }: RunIdentity,
): Promise<ClaimHolder[]> {
  const { rows } = await tx.query<ClaimHolder>(
    `select r.plan_id as "planId", r.workflow_id as "workflowId", r.execution_id as "executionId",
            p.range_from as "from", p.range_to as "to", r.requested_by as "requestedBy", r.reason,
            r.opened_at as "openedAt", r.namespace, r.namespace_id as "namespaceId"
       from ${tx.ledger}.run r join ${tx.ledger}.plan p using (plan_id)
      where r.table_name = $1 and r.state = 'open' and (r.plan_id, r.execution_id) <> ($4, $5)
        and r.span && pg_catalog.tstzrange($2, $3)
      order by r.opened_at`,
    [table, start, end, planId, executionId],
  );
  return rows;
}

/** Takes the claim of a run whose execution is gone. Nothing where it was closed, or taken up again, meanwhile. */
export async function abandonRun(tx: Tx, { planId, executionId }: ClaimHolder): Promise<void> {
  await tx.query(
    `update ${tx.ledger}.run set state = 'abandoned', closed_at = pg_catalog.clock_timestamp()
      where plan_id = $1 and execution_id = $2 and state = 'open'`,
    [planId, executionId],
  );
}

/** Whether an error says that another open run has a part of the range. */
export function isClaimed(error: unknown): boolean {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return code === '23P01' && constraint === 'run_claim';
}
