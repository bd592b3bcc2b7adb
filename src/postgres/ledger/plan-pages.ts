import { rangesOf } from '../../domain/key-ranges.js';
import type { LastWrites, LeftAlone, PlannedPartition } from '../../domain/plan.js';
import type { Tx } from '../database.js';

/** Partitions of a plan that are read, shown or worked on at once. */
export const PAGE_SIZE = 500;

export type PartitionRow = Pick<PlannedPartition, 'seq' | 'key' | 'action'> & {
  readonly rows: string | null;
  readonly bytes: string;
  readonly generation: string;
  readonly writer: string | null;
  readonly workflowId: string | null;
  readonly at: string | null;
};

/** Those after a position that a run of the plan would write, and who wrote them last. */
export async function readPartitions(tx: Tx, planId: string, after: number): Promise<PartitionRow[]> {
  const { rows } = await tx.query<PartitionRow>(
    `select pp.seq, pp.key, pp.action, pp.rows_about as rows, pp.bytes, pp.generation,
            w.plan_id as writer, r.workflow_id as "workflowId", w.committed_at as at
       from ${tx.ledger}.plan_partition pp
       join ${tx.ledger}.plan l using (plan_id)
       left join ${tx.ledger}.replacement w on (w.table_name, w.key, w.generation) = (l.table_name, pp.key, pp.generation)
       left join ${tx.ledger}.run r on r.plan_id = w.plan_id
      where pp.plan_id = $1 and pp.seq > $2 and pp.action <> 'leave' order by pp.seq limit $3`,
    [planId, after, PAGE_SIZE],
  );
  return rows;
}

export function partitionOf({ seq, key, action, rows, bytes, generation }: PartitionRow): PlannedPartition {
  const rowsAbout = rows === null ? null : Number(rows);
  return { seq, key, action, rowsAbout, bytes: Number(bytes), generation: Number(generation) };
}

/** Each run once, because a partition's own would be most of a page. */
export function lastWritesOf(rows: readonly PartitionRow[]): LastWrites[] {
  const order = rows.map(({ key }) => key);
  const byWriter = new Map<string | null, PartitionRow[]>();
  for (const row of rows) byWriter.set(row.writer, [...(byWriter.get(row.writer) ?? []), row]);
  return [...byWriter].map(([planId, some]) => ({
    planId,
    workflowId: some[0]?.workflowId ?? null,
    at: planId === null ? null : latest(some.map(({ at }) => at ?? '')),
    ranges: rangesOf(
      some.map(({ key }) => key),
      order,
    ),
  }));
}

function latest(times: readonly string[]): string {
  return new Date(Math.max(...times.map((time) => Date.parse(time)))).toISOString();
}

export async function readLeftAlone(tx: Tx, planId: string, after: number): Promise<LeftAlone[]> {
  const { rows } = await tx.query<LeftAlone & { seq: number }>(
    `select key, why from ${tx.ledger}.plan_partition where plan_id = $1 and seq > $2 and action = 'leave' order by seq limit $3`,
    [planId, after, PAGE_SIZE],
  );
  return rows;
}
