import type { Tx } from './database.js';

/** Tables that one transaction analyzes: it holds a lock on each until its end, which keeps partitions from being attached. */
const BATCH = 25;

/** Of a table with more, all cannot be locked at once: a server has room for 6,400 locks, and this takes one or two of each. */
const MOST_PARTITIONS = 2_000;

/**
 * The statements that refresh the planner's statistics of what a run has written, each for a transaction of its own. The
 * whole table is analyzed with every partition it has, which for fourteen days of ten years is 260 times too much: where
 * the partitions that were replaced are tables, these are; those that were created have been. What is known of the table
 * over all of its partitions, autovacuum never refreshes. PostgreSQL 18 can do so alone (`only`), an older one with all
 * the others: there it is done where the run wrote half of them. Of very many partitions it is left out.
 * @param relation the table, quoted
 */
export async function statisticsTexts(tx: Tx, relation: string, planId: string): Promise<readonly string[]> {
  const whole = [`analyze ${relation}`];
  const { rows } = await tx.query<{ leaves: string[]; created: number; all: number; canAlone: boolean }>(
    `select array(select distinct c.oid::pg_catalog.regclass::text
                    from ${tx.ledger}.plan_partition pp join ${tx.ledger}.replacement r using (plan_id, key)
                    join pg_catalog.pg_inherits i on i.inhrelid = pp.leaf_oid and i.inhparent = pg_catalog.to_regclass($1)
                    join pg_catalog.pg_class c on c.oid = i.inhrelid
                   where pp.plan_id = $2 and pp.action = 'replace') as leaves,
            (select pg_catalog.count(*)::int from ${tx.ledger}.replacement where plan_id = $2 and action = 'create') as created,
            (select pg_catalog.count(*)::int from pg_catalog.pg_inherits where inhparent = pg_catalog.to_regclass($1)) as all,
            pg_catalog.current_setting('server_version_num')::int >= 180000 as "canAlone"`,
    [relation, planId],
  );
  const { leaves = [], created = 0, all = 0, canAlone = false } = rows[0] ?? {};
  const written = leaves.length + created;
  const fits = all <= MOST_PARTITIONS;
  if (fits && (written === 0 || (!canAlone && written * 2 >= all))) return whole;
  const batches = Array.from({ length: Math.ceil(leaves.length / BATCH) }, (_, i) =>
    leaves.slice(i * BATCH, (i + 1) * BATCH),
  );
  return [
    ...batches.map((some) => `analyze ${some.join(', ')}`),
    ...(canAlone && fits ? [`analyze only ${relation}`] : []),
  ];
}
