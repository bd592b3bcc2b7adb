import { NOTHING_PRUNED, type PruneCounts } from '../../domain/prune.js';
import type { Tx } from '../database.js';

/** Rows deleted in one transaction; one plan goes as a whole, however many partitions it has. */
const BATCH = 10_000;

/**
 * What may go, in terms of `$1`, the moment. The newest replacement of a partition stays, and the failures that are the
 * last word on one; nothing of an open run goes, nor of one whose replaced rows are still there, nor a plan that any kept
 * row refers to.
 */
function rulesOf({ ledger }: Tx) {
  const isOpen = (row: string) =>
    `exists (select from ${ledger}.run o where o.plan_id = ${row}.plan_id and o.state = 'open')`;
  const hasCopy = `select plan_id from ${ledger}.kept where dropped_at is null`;
  const oldReplacement = `r.committed_at < $1::timestamptz and not ${isOpen('r')} and r.plan_id not in (${hasCopy})
    and exists (select from ${ledger}.partition p
                 where p.table_name = r.table_name and p.key = r.key and p.generation > r.generation)`;
  const oldFailure = `f.failed_at < $1::timestamptz and not ${isOpen('f')}
    and not exists (select from ${ledger}.partition p where p.failed_plan_id = f.plan_id and p.key = f.key)`;
  const kept = `kept (plan_id) as (
    select plan_id from ${ledger}.plan where created_at >= $1::timestamptz
    union select plan_id from ${ledger}.run where state = 'open' or closed_at >= $1::timestamptz
    union ${hasCopy}
    union select plan_id from ${ledger}.partition where plan_id is not null
    union select failed_plan_id from ${ledger}.partition where failed_plan_id is not null
    union select plan_id from ${ledger}.replacement r where not (${oldReplacement})
    union select plan_id from ${ledger}.failure f where not (${oldFailure})
    union select earlier from kept join ${ledger}.plan p using (plan_id)
      cross join lateral (values (p.replaces), (p.undoes)) as e (earlier) where earlier is not null)`;
  return { oldReplacement, oldFailure, kept };
}

/** How many rows are older than the moment and may go. */
export async function countPrunable(tx: Tx, before: Date): Promise<PruneCounts> {
  const { oldReplacement, oldFailure, kept } = rulesOf(tx);
  const { rows } = await tx.query<Record<keyof PruneCounts, string>>(
    `with recursive ${kept},
          gone as (select plan_id from ${tx.ledger}.plan p where not exists (select from kept k where k.plan_id = p.plan_id))
     select (select pg_catalog.count(*) from gone) as plans,
            (select pg_catalog.count(*) from ${tx.ledger}.plan_partition join gone using (plan_id)) as "planPartitions",
            (select pg_catalog.count(*) from ${tx.ledger}.run join gone using (plan_id)) as runs,
            (select pg_catalog.count(*) from ${tx.ledger}.replacement r where ${oldReplacement}) as replacements,
            (select pg_catalog.count(*) from ${tx.ledger}.failure f where ${oldFailure}) as failures`,
    [before.toISOString()],
  );
  const { plans = 0, planPartitions = 0, runs = 0, replacements = 0, failures = 0 } = rows[0] ?? {};
  return {
    plans: Number(plans),
    planPartitions: Number(planPartitions),
    runs: Number(runs),
    replacements: Number(replacements),
    failures: Number(failures),
  };
}

/** Deletes some of them: replacements and failures first, as they keep their plans. Nothing deleted: it is done. */
export async function pruneBatch(tx: Tx, before: Date): Promise<PruneCounts> {
  const replacements = await pruneReplacements(tx, before);
  if (replacements > 0) return { ...NOTHING_PRUNED, replacements };
  const failures = await pruneFailures(tx, before);
  return failures > 0 ? { ...NOTHING_PRUNED, failures } : prunePlans(tx, before);
}

async function pruneReplacements(tx: Tx, before: Date): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from ${tx.ledger}.replacement where (table_name, key, generation) in (
       select r.table_name, r.key, r.generation from ${tx.ledger}.replacement r
        where ${rulesOf(tx).oldReplacement} limit ${BATCH} for update of r skip locked)`,
    [before.toISOString()],
  );
  return rowCount ?? 0;
}

async function pruneFailures(tx: Tx, before: Date): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from ${tx.ledger}.failure where failure_id in (
       select f.failure_id from ${tx.ledger}.failure f
        where ${rulesOf(tx).oldFailure} limit ${BATCH} for update of f skip locked)`,
    [before.toISOString()],
  );
  return rowCount ?? 0;
}

async function prunePlans(tx: Tx, before: Date): Promise<PruneCounts> {
  const plans = await lockPlans(tx, before);
  if (plans.length === 0) return NOTHING_PRUNED;
  const { ledger } = tx;
  const partitions = await tx.query(`delete from ${ledger}.plan_partition where plan_id = any ($1)`, [plans]);
  const runs = await tx.query(`delete from ${ledger}.run where plan_id = any ($1)`, [plans]);
  await tx.query(`delete from ${ledger}.kept where plan_id = any ($1)`, [plans]);
  await tx.query(`delete from ${ledger}.plan where plan_id = any ($1)`, [plans]);
  return {
    ...NOTHING_PRUNED,
    plans: plans.length,
    planPartitions: partitions.rowCount ?? 0,
    runs: runs.rowCount ?? 0,
  };
}

/**
 * A batch of plans that may go, newest first, because a plan that takes over another refers to it. Locked, and then
 * looked at once more: somebody may have started one, or taken its run up again, before the lock was there.
 */
async function lockPlans(tx: Tx, before: Date): Promise<string[]> {
  const { ledger } = tx;
  const picked = await tx.query<{ id: string }>(
    `with recursive ${rulesOf(tx).kept},
          sized as (
            select plan_id, created_at, pg_catalog.sum(1 + c.partitions) over (order by created_at desc, plan_id) - c.partitions as so_far
              from ${ledger}.plan p
             cross join lateral (select coalesce(pg_catalog.sum(n::bigint), 0) as partitions from pg_catalog.jsonb_each_text(p.facts -> 'counts') as e (action, n)) c
             where not exists (select from kept k where k.plan_id = p.plan_id))
     select plan_id as id from ${ledger}.plan
      where plan_id in (select plan_id from sized where so_far <= ${BATCH}) for update skip locked`,
    [before.toISOString()],
  );
  const ids = picked.rows.map(({ id }) => id);
  await tx.query(`select from ${ledger}.run where plan_id = any ($1) for update`, [ids]);
  const { rows } = await tx.query<{ id: string }>(
    `select p.plan_id as id from ${ledger}.plan p
      where p.plan_id = any ($1)
        and not exists (select from ${ledger}.run r where r.plan_id = p.plan_id and r.state = 'open')
        and not exists (select from ${ledger}.replacement r where r.plan_id = p.plan_id)
        and not exists (select from ${ledger}.failure f where f.plan_id = p.plan_id)
        and not exists (select from ${ledger}.kept k where k.plan_id = p.plan_id and k.dropped_at is null)
        and not exists (select from ${ledger}.plan n where (n.replaces = p.plan_id or n.undoes = p.plan_id) and n.plan_id <> all ($1))`,
    [ids],
  );
  return rows.map(({ id }) => id);
}
