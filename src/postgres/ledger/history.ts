import type { HistoryCursor, HistoryEntry, HistoryPage, RunName } from '../../domain/history.js';
import { cutPage } from '../../domain/page.js';
import type { Tx } from '../database.js';
import { PAGE_SIZE } from './plan-pages.js';
import { changesOf } from './replacements.js';

export interface HistoryQuestion {
  readonly table: string;
  /** Of today's build. */
  readonly buildDigest: string;
  /** All generations of this one partition; null for all partitions. */
  readonly key: string | null;
  readonly before: HistoryCursor | null;
}

interface EntryRow {
  key: string;
  generation: string;
  action: 'create' | 'replace';
  isCurrent: boolean;
  buildDigest: string | null;
  undoes: RunName | null;
  undoneBy: RunName | null;
  rowsBefore: string;
  rowsAfter: string;
  added: string | null;
  removed: string | null;
  changed: string | null;
  planId: string;
  workflowId: string | null;
  requestedBy: string | null;
  reason: string | null;
  attempt: number;
  startedAt: string;
  committedAt: string;
}

/** Who wrote what when, newest first. A reason is cut here, it is whole in the run. */
export async function readHistory(tx: Tx, { table, buildDigest, key, before }: HistoryQuestion): Promise<HistoryPage> {
  const { rows } = await tx.query<EntryRow>(
    `select r.key, r.generation, r.action, r.generation = p.generation as "isCurrent",
            r.build_digest as "buildDigest", r.rows_before as "rowsBefore", r.rows_after as "rowsAfter",
            r.rows_added as added, r.rows_removed as removed, r.rows_changed as changed,
            case when l.undoes is not null then ${runName('l.undoes', 'o.workflow_id')} end as undoes,
            case when b.plan_id is not null then ${runName('b.plan_id', 'b.workflow_id')} end as "undoneBy",
            r.plan_id as "planId", n.workflow_id as "workflowId",
            coalesce(n.requested_by, l.requested_by) as "requestedBy",
            pg_catalog."left"(coalesce(n.reason, l.reason), 200) as reason,
            r.attempt, r.started_at as "startedAt", r.committed_at as "committedAt"
       from ${tx.ledger}.replacement r
       join ${tx.ledger}.plan l using (plan_id)
       left join ${tx.ledger}.run n using (plan_id)
       left join ${tx.ledger}.run o on o.plan_id = l.undoes
       left join lateral (
              select u.plan_id, w.workflow_id from ${tx.ledger}.plan u
                join ${tx.ledger}.replacement x on x.plan_id = u.plan_id and x.key = r.key
                left join ${tx.ledger}.run w on w.plan_id = u.plan_id
               where u.undoes = r.plan_id limit 1) b on true
       left join ${tx.ledger}.partition p on p.table_name = r.table_name and p.key = r.key
      where r.table_name = $1 and ($2::text is null or r.key = $2)
        and ($3::timestamptz is null or (r.committed_at, r.key, r.generation) < ($3, $4::text, $5::bigint))
      order by r.committed_at desc, r.key desc, r.generation desc limit $6`,
    [table, key, before?.committedAt, before?.key, before?.generation, PAGE_SIZE + 1],
  );
  const { items, hasMore } = cutPage(rows, PAGE_SIZE);
  const last = items.at(-1);
  return {
    table,
    entries: items.map((row) => entryOf(row, buildDigest)),
    next: hasMore && last ? cursorOf(last) : null,
  };
}

function runName(planId: string, workflowId: string): string {
  return `pg_catalog.jsonb_build_object('planId', ${planId}, 'workflowId', ${workflowId})`;
}

/** The time as PostgreSQL printed it: to the microsecond. */
function cursorOf({ committedAt, key, generation }: EntryRow): HistoryCursor {
  return { committedAt, key, generation: Number(generation) };
}

function entryOf(
  { buildDigest: builtBy, added, removed, changed, ...row }: EntryRow,
  buildDigest: string,
): HistoryEntry {
  return {
    ...row,
    generation: Number(row.generation),
    action: row.action === 'create' ? 'created' : 'replaced',
    isCurrent: row.isCurrent ?? false,
    isOutdated: builtBy !== buildDigest,
    rowsBefore: Number(row.rowsBefore),
    rowsAfter: Number(row.rowsAfter),
    changes: changesOf(added, removed, changed, row.rowsAfter),
    startedAt: new Date(row.startedAt).toISOString(),
    committedAt: new Date(row.committedAt).toISOString(),
  };
}
