import { chunksOf } from '../../domain/chunks.js';
import type { PlanBasis, PlannedState } from '../../domain/drift.js';
import type { Plan, WorkPage } from '../../domain/plan.js';
import type { RunOptions } from '../../domain/request.js';
import type { ColumnType } from '../../domain/sql-template.js';
import type { UndoFacts } from '../../domain/undo.js';
import type { Tx } from '../database.js';
import { PAGE_SIZE, lastWritesOf, partitionOf, readLeftAlone, readPartitions } from './plan-pages.js';

/** The part of a plan that is only shown, never computed with. */
export type PlanFacts = Pick<
  Plan,
  | 'grain'
  | 'timeZone'
  | 'buildSql'
  | 'source'
  | 'strategy'
  | 'strategyWhy'
  | 'whenEmpty'
  | 'checks'
  | 'impact'
  | 'estimates'
  | 'earlier'
  | 'counts'
  | 'warnings'
  | 'keep'
> & {
  /** Null for a plan that builds. */
  readonly undo: UndoFacts | null;
};

export type StoredPartition = {
  readonly key: string;
  readonly bytes: number;
  readonly rowsAbout: number | null;
  readonly generation: number;
  readonly leafOid: number | null;
  readonly leafFileNode: number | null;
  readonly provisional: boolean;
} & (
  { readonly action: 'create' | 'replace'; readonly why: null } | { readonly action: 'leave'; readonly why: string }
);

export interface NewPlan {
  readonly planId: string;
  readonly table: string;
  readonly from: string;
  readonly to: string;
  readonly options: RunOptions;
  readonly digest: string;
  readonly definitionDigest: string;
  readonly buildDigest: string;
  readonly shape: string;
  readonly columnType: ColumnType;
  readonly columns: readonly string[];
  readonly facts: PlanFacts;
  readonly refusals: readonly string[];
  readonly replaces: string | null;
  /** The plan whose run it undoes. */
  readonly undoes: string | null;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  readonly partitions: readonly StoredPartition[];
}

/** Stores a plan under the id that the caller drew, so that a repeated attempt stores nothing twice. */
export async function storePlan(tx: Tx, plan: NewPlan): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into ${tx.ledger}.plan (plan_id, table_name, range_from, range_to, options, digest, definition_digest, build_digest,
       shape, column_type, columns, facts, refusals, replaces, requested_by, reason, undoes)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) on conflict do nothing`,
    [
      plan.planId,
      plan.table,
      plan.from,
      plan.to,
      JSON.stringify(plan.options),
      plan.digest,
      plan.definitionDigest,
      plan.buildDigest,
      plan.shape,
      plan.columnType,
      plan.columns,
      JSON.stringify(plan.facts),
      JSON.stringify(plan.refusals),
      plan.replaces,
      plan.requestedBy,
      plan.reason,
      plan.undoes,
    ],
  );
  if (rowCount === 0) return;
  let before = 0;
  for (const chunk of chunksOf(plan.partitions, STORED_AT_ONCE)) {
    await storePartitions(tx, plan.planId, before, chunk);
    before += chunk.length;
  }
}

/** Ten texts of each go through the driver. */
const STORED_AT_ONCE = 10_000;

async function storePartitions(
  tx: Tx,
  planId: string,
  before: number,
  partitions: readonly StoredPartition[],
): Promise<void> {
  const column = <K extends keyof StoredPartition>(name: K) => partitions.map((partition) => partition[name]);
  await tx.query(
    `insert into ${tx.ledger}.plan_partition
       (plan_id, seq, key, action, why, rows_about, bytes, generation, leaf_oid, leaf_filenode, provisional)
     select $1, $11 + seq, key, action, why, rows_about, bytes, generation, leaf_oid, leaf_filenode, provisional
       from rows from (pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::bigint[]), pg_catalog.unnest($6::bigint[]), pg_catalog.unnest($7::bigint[]), pg_catalog.unnest($8::bigint[]), pg_catalog.unnest($9::bigint[]), pg_catalog.unnest($10::boolean[]))
            with ordinality as p (key, action, why, rows_about, bytes, generation, leaf_oid, leaf_filenode, provisional, seq)`,
    [
      planId,
      column('key'),
      column('action'),
      column('why'),
      column('rowsAbout'),
      column('bytes'),
      column('generation'),
      column('leafOid'),
      column('leafFileNode'),
      column('provisional'),
      before,
    ],
  );
}

interface PlanRow {
  table_name: string;
  range_from: string;
  range_to: string;
  options: RunOptions;
  digest: string;
  definition_digest: string;
  build_digest: string;
  shape: string;
  column_type: ColumnType;
  facts: PlanFacts;
  refusals: string[];
  replaces: string | null;
  requested_by: string | null;
  reason: string | null;
  created_at: string;
}

/** A plan, and what only the worker needs of it. */
export interface StoredPlan extends Plan {
  readonly shape: string;
  readonly undo: UndoFacts | null;
  readonly columnType: ColumnType;
}

/** A plan of before these were looked for has none. */
const NOT_LOOKED_FOR = { impact: [], estimates: [], earlier: null } as const;

/** A stored plan with a page of its partitions: those after position `after`. Null where there is none. */
export async function readPlan(tx: Tx, planId: string, after = 0): Promise<StoredPlan | null> {
  const { rows } = await tx.query<PlanRow>(`select * from ${tx.ledger}.plan where plan_id = $1`, [planId]);
  const row = rows[0];
  if (!row) return null;
  const partitions = await readPartitions(tx, planId, after);
  return {
    planId,
    table: row.table_name,
    from: row.range_from,
    to: row.range_to,
    options: row.options,
    digest: row.digest,
    definitionDigest: row.definition_digest,
    buildDigest: row.build_digest,
    shape: row.shape,
    columnType: row.column_type,
    ...NOT_LOOKED_FOR,
    ...row.facts,
    ...aboutKeeping(row.facts),
    refusals: row.refusals,
    partitions: partitions.map(partitionOf),
    lastWrites: lastWritesOf(partitions),
    leftAlone: await readLeftAlone(tx, planId, after),
    replaces: row.replaces === null ? null : { planId: row.replaces, keysKept: await readKeysDone(tx, row.replaces) },
    createdAt: new Date(row.created_at).toISOString(),
    requestedBy: row.requested_by,
    reason: row.reason,
  };
}

/** Plans of before anything was kept say nothing of it. */
function aboutKeeping({ keep, undo }: Partial<PlanFacts>): Pick<StoredPlan, 'keep' | 'undo' | 'undoes'> {
  const undoes = undo ? { planId: undo.planId, workflowId: undo.workflowId } : null;
  return { keep: keep ?? null, undo: undo ?? null, undoes };
}

/** Keys that were written under a plan: at most a page of them. */
async function readKeysDone(tx: Tx, planId: string): Promise<string[]> {
  const { rows } = await tx.query<{ key: string }>(
    `select pp.key from ${tx.ledger}.plan_partition pp join ${tx.ledger}.replacement r using (plan_id, key)
      where plan_id = $1 order by pp.seq limit $2`,
    [planId, PAGE_SIZE],
  );
  return rows.map(({ key }) => key);
}

/** What the unfinished partitions of a plan were computed from. */
export async function readUnfinished(tx: Tx, planId: string): Promise<PlannedState[]> {
  const { rows } = await tx.query<{
    key: string;
    action: 'create' | 'replace';
    generation: string;
    oid: string | null;
    filenode: string | null;
  }>(
    `select key, action, generation, leaf_oid as oid, leaf_filenode as filenode from ${tx.ledger}.plan_partition pp
      where plan_id = $1 and action <> 'leave'
        and not exists (select from ${tx.ledger}.replacement r where r.plan_id = pp.plan_id and r.key = pp.key)
      order by seq`,
    [planId],
  );
  return rows.map(({ key, action, generation, oid, filenode }) => ({
    key,
    action,
    generation: Number(generation),
    leafOid: oid === null ? null : Number(oid),
    leafFileNode: filenode === null ? null : Number(filenode),
  }));
}

export function basisOf(plan: StoredPlan, partitions: readonly PlannedState[]): PlanBasis {
  const { definitionDigest, buildDigest, shape } = plan;
  return { definitionDigest, buildDigest, shape, partitions };
}

/** The next partitions to work on, after a position of the plan. */
export async function readWorkPage(tx: Tx, planId: string, after: number, size = PAGE_SIZE): Promise<WorkPage> {
  const { rows } = await tx.query<{ seq: number; key: string; isDone: boolean }>(
    `select pp.seq, pp.key, r.key is not null as "isDone"
       from ${tx.ledger}.plan_partition pp left join ${tx.ledger}.replacement r using (plan_id, key)
      where plan_id = $1 and pp.seq > $2 and pp.action <> 'leave' order by pp.seq limit $3`,
    [planId, after, size + 1],
  );
  return { partitions: rows.slice(0, size), hasMore: rows.length > size };
}
