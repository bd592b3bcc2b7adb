import type { Changes } from '../../domain/changes.js';
import type { FailureInfo } from '../../domain/failure.js';
import { fitFailure } from '../../domain/fit-failure.js';
import type { KeptForm } from '../../domain/keep.js';
import type { Replaced } from '../../domain/outcome.js';
import type { Strategy } from '../../domain/strategy.js';
import type { Tx } from '../database.js';

/** As the ledger keeps them: what did not change is what is left of the rows after. */
export function changesOf(
  added: string | null,
  removed: string | null,
  changed: string | null,
  rowsAfter: string | null,
): Changes | null {
  if (added === null) return null;
  const counts = { added: Number(added), removed: Number(removed), changed: Number(changed) };
  return { ...counts, unchanged: Number(rowsAfter) - counts.added - counts.changed };
}

export interface NewReplacement extends Replaced {
  readonly buildDigest: string | null;
  readonly provisional: boolean;
  readonly table: string;
  readonly planId: string;
  readonly attempt: number;
  readonly strategy: Strategy;
  /** All rows that were written carry the number of this transaction. */
  readonly isOurs: boolean;
  readonly kept: KeptForm | null;
}

/**
 * The record of a replacement, in its own transaction, with what the partition's was before: the second statement sees it
 * as it was. It runs by the definition's search path, so that its operators
 * are named in full. The disk is waited for at the commit, whatever the build has set.
 */
export async function recordReplacement(tx: Tx, done: NewReplacement): Promise<void> {
  await tx.query(
    `with moved as (
       update ${tx.ledger}.partition
          set generation = $3, plan_id = $4, row_count = $7, build_digest = $8, provisional = $9,
              xid = case when $11 then pg_catalog.pg_current_xact_id() end, keeps_rows = $15,
              replaced_at = pg_catalog.clock_timestamp(), failed_plan_id = null, failed_at = null
        where table_name operator(pg_catalog.=) $1 and key operator(pg_catalog.=) $2)
     insert into ${tx.ledger}.replacement
       (table_name, key, generation, plan_id, action, rows_before, rows_after, build_digest, attempt, started_at,
        rows_added, rows_removed, rows_changed, strategy, kept, build_digest_before, provisional_before)
     select $1, $2, $3, $4, $5, $6, $7, $8, $10, pg_catalog.now(), $12, $13, $14, $16, $17, p.build_digest, p.provisional
       from ${tx.ledger}.partition p where p.table_name operator(pg_catalog.=) $1 and p.key operator(pg_catalog.=) $2
     returning pg_catalog.set_config('synchronous_commit', 'on', true)`,
    [
      done.table,
      done.key,
      done.generation,
      done.planId,
      done.status === 'created' ? 'create' : 'replace',
      done.rowsBefore,
      done.rowsAfter,
      done.buildDigest,
      done.provisional,
      done.attempt,
      done.isOurs,
      done.changes?.added ?? null,
      done.changes?.removed ?? null,
      done.changes?.changed ?? null,
      (done.changes?.unchanged ?? 0) > 0,
      done.strategy,
      done.kept,
    ],
  );
}

/** A partition that a run gave up on. It stays so until the next replacement. */
export async function recordFailure(
  tx: Tx,
  failure: {
    readonly table: string;
    readonly planId: string;
    readonly key: string;
    readonly attempt: number;
    readonly info: FailureInfo;
  },
): Promise<void> {
  const { table, planId, key, attempt } = failure;
  const info = fitFailure(failure.info);
  await tx.query(
    `insert into ${tx.ledger}.failure (plan_id, key, attempt, type, message, info) values ($1, $2, $3, $4, $5, $6)`,
    [planId, key, attempt, info.type, info.message, JSON.stringify(info)],
  );
  await tx.query(
    `insert into ${tx.ledger}.partition (table_name, key, failed_plan_id, failed_at) values ($1, $2, $3, pg_catalog.clock_timestamp())
     on conflict (table_name, key) do update set failed_plan_id = excluded.failed_plan_id, failed_at = excluded.failed_at`,
    [table, key, planId],
  );
}
