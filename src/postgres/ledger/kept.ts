import type { KeepReplaced } from '../../domain/keep.js';
import type { Partitioning } from '../../domain/grain.js';
import type { Undoable } from '../../domain/undo.js';
import type { Tx } from '../database.js';

/** What the ledger says of the rows that a run replaced. */
export interface Kept {
  /** The copy's name; null where the run has none. */
  readonly relation: string | null;
  readonly columns: readonly string[];
  readonly partitioning: Partitioning;
  readonly isDropped: boolean;
  /** ISO 8601, as PostgreSQL prints it. */
  readonly droppedAt: string | null;
}

/** Null where the run kept nothing. @param lock keeps it from being dropped until the end of the transaction */
export async function readKept(tx: Tx, planId: string, lock = false): Promise<Kept | null> {
  const { rows } = await tx.query<Kept>(
    `select relation, columns, partitioning, dropped_at is not null as "isDropped", dropped_at as "droppedAt"
       from ${tx.ledger}.kept where plan_id = $1 ${lock ? 'for share' : ''}`,
    [planId],
  );
  return rows[0] ?? null;
}

export interface NewKept {
  readonly planId: string;
  readonly relation: string | null;
  readonly columns: readonly string[];
  readonly partitioning: Partitioning;
  readonly forMs: KeepReplaced['forMs'];
}

/** Also where an earlier copy of the run was dropped: what that held is lost, and is recorded as lost. */
export async function recordKept(tx: Tx, kept: NewKept): Promise<void> {
  await tx.query(
    `insert into ${tx.ledger}.kept (plan_id, relation, columns, partitioning, keep_for)
     values ($1, $2, $3, $4, $5::float8 * interval '1 millisecond')
     on conflict (plan_id) do update
        set relation = excluded.relation, columns = excluded.columns, partitioning = excluded.partitioning,
            keep_for = excluded.keep_for, made_at = pg_catalog.clock_timestamp(), dropped_at = null`,
    [kept.planId, kept.relation, kept.columns, JSON.stringify(kept.partitioning), kept.forMs],
  );
}

/** Every replacement of a run, in the order of its plan, with the last word on each partition. */
export async function readUndoable(tx: Tx, planId: string): Promise<Undoable[]> {
  const { rows } = await tx.query<
    Omit<Undoable, 'newest' | 'generation' | 'rowsBefore'> &
      Omit<Undoable['newest'], 'generation'> & { generation: string; rowsBefore: string; newest: string }
  >(
    `select r.key, r.generation, r.kept, r.rows_before as "rowsBefore", p.generation as newest,
            w.workflow_id as "workflowId", coalesce(w.requested_by, l.requested_by) as "requestedBy",
            n.committed_at as "committedAt", coalesce(l.undoes = $1, false) as "isUndo"
       from ${tx.ledger}.replacement r
       join ${tx.ledger}.partition p on p.table_name = r.table_name and p.key = r.key
       join ${tx.ledger}.plan_partition pp on pp.plan_id = r.plan_id and pp.key = r.key
       left join ${tx.ledger}.replacement n on n.table_name = p.table_name and n.key = p.key and n.generation = p.generation
       left join ${tx.ledger}.plan l on l.plan_id = n.plan_id
       left join ${tx.ledger}.run w on w.plan_id = n.plan_id
      where r.plan_id = $1 order by pp.seq`,
    [planId],
  );
  return rows.map(({ key, generation, kept, rowsBefore, newest, committedAt, ...writer }) => ({
    key,
    generation: Number(generation),
    kept,
    rowsBefore: Number(rowsBefore),
    newest: {
      ...writer,
      committedAt: committedAt && new Date(committedAt).toISOString(),
      generation: Number(newest),
    },
  }));
}

/** A copy whose time is over. */
export interface Overdue {
  readonly planId: string;
  readonly table: string;
  readonly relation: string | null;
  /** ISO 8601, as PostgreSQL prints it: when its time was over. */
  readonly since: string;
  readonly bytes: number;
}

/**
 * Copies whose time is over, oldest first. It runs from the last replacement of their run on; one that a run is putting
 * back stays.
 */
export function readOverdue(tx: Tx, most: number): Promise<Overdue[]> {
  return findOverdue(tx, { most });
}

/** Locks the record of a copy that may go now. Undefined: it is gone, its time is not over, or it is being put back. */
export async function lockOverdue(tx: Tx, planId: string): Promise<Overdue | undefined> {
  await tx.query(`select from ${tx.ledger}.kept where plan_id = $1 for update`, [planId]);
  // Looked at by a statement of its own, which sees what was committed while the first one waited.
  const [overdue] = await findOverdue(tx, { most: 1, planId });
  return overdue;
}

async function findOverdue(
  tx: Tx,
  { most, planId = null }: { readonly most: number; readonly planId?: string | null },
): Promise<Overdue[]> {
  const { rows } = await tx.query<Overdue & { bytes: string }>(
    `select k.plan_id as "planId", l.table_name as table, k.relation, t.until as since,
            coalesce(pg_total_relation_size(to_regclass($2 || '.' || quote_ident(k.relation))), 0) as bytes
       from ${tx.ledger}.kept k join ${tx.ledger}.plan l using (plan_id)
      cross join lateral (${untilText(tx)}) t
      where k.dropped_at is null and t.until < clock_timestamp() and ($3::uuid is null or k.plan_id = $3)
        and not exists (select from ${tx.ledger}.plan u join ${tx.ledger}.run o using (plan_id)
                         where u.undoes = k.plan_id and o.state = 'open')
      order by t.until, k.plan_id limit $1`,
    [most, tx.ledger, planId],
  );
  return rows.map(({ bytes, ...overdue }) => ({ ...overdue, bytes: Number(bytes) }));
}

function untilText({ ledger }: Tx): string {
  return `select greatest(k.made_at, max(r.committed_at)) + k.keep_for as until from ${ledger}.replacement r where r.plan_id = k.plan_id`;
}

/** ISO 8601; null where nothing is kept. */
export async function readKeptUntil(tx: Tx, planId: string): Promise<string | null> {
  const { rows } = await tx.query<{ until: string }>(
    `select t.until from ${tx.ledger}.kept k cross join lateral (${untilText(tx)}) t
      where k.plan_id = $1 and k.dropped_at is null`,
    [planId],
  );
  return rows[0] ? new Date(rows[0].until).toISOString() : null;
}

/** What was kept is not there any more: neither the copy, nor anything that only its presence makes true. */
export async function recordDropped(tx: Tx, planId: string): Promise<void> {
  await tx.query(`update ${tx.ledger}.kept set dropped_at = pg_catalog.clock_timestamp() where plan_id = $1`, [planId]);
  await tx.query(`update ${tx.ledger}.replacement set kept = null where plan_id = $1 and kept is not null`, [planId]);
}
