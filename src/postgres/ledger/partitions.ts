import type { OpenRunOfTable } from '../../domain/table-state.js';
import type { Tx } from '../database.js';

/** What the ledger has of one partition. */
export interface PartitionRow {
  readonly key: string;
  readonly generation: number;
  readonly rows: number | null;
  readonly buildDigest: string | null;
  readonly isProvisional: boolean;
  readonly hasFailed: boolean;
  readonly replacedAt: string | null;
}

export async function readPartitionRows(tx: Tx, table: string): Promise<PartitionRow[]> {
  const { rows } = await tx.query<PartitionRow & { generation: string; rows: string | null }>(
    `select key, generation, row_count as rows, build_digest as "buildDigest", provisional as "isProvisional",
            failed_at is not null as "hasFailed", replaced_at as "replacedAt"
       from ${tx.ledger}.partition where table_name = $1`,
    [table],
  );
  return rows.map((row) => ({
    ...row,
    generation: Number(row.generation),
    rows: row.rows === null ? null : Number(row.rows),
    replacedAt: row.replacedAt && new Date(row.replacedAt).toISOString(),
  }));
}

/** Those that have a claim on a range of the table, oldest first. */
export async function readOpenRuns(tx: Tx, table: string): Promise<OpenRunOfTable[]> {
  const { rows } = await tx.query<OpenRunOfTable>(
    `select r.plan_id as "planId", r.workflow_id as "workflowId", p.range_from as "from", p.range_to as "to",
            r.requested_by as "requestedBy", r.opened_at as "openedAt"
       from ${tx.ledger}.run r join ${tx.ledger}.plan p using (plan_id)
      where r.table_name = $1 and r.state = 'open' order by r.opened_at limit 20`,
    [table],
  );
  return rows.map((run) => ({ ...run, openedAt: new Date(run.openedAt).toISOString() }));
}
