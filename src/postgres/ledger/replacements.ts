import { BackfillError, type FailureInfo, FailureType } from '../../domain/failure.js';
import { fitFailure } from '../../domain/fit-failure.js';
import type { Replaced } from '../../domain/outcome.js';
import type { ColumnType } from '../../domain/sql-template.js';
import type { Tx } from '../database.js';

/** What a replacement needs to know of its run and plan. */
export interface Admission {
  readonly action: 'create' | 'replace';
  readonly shape: string;
  readonly definitionDigest: string;
  readonly buildDigest: string;
  readonly leafOid: number | null;
  readonly provisional: boolean;
  readonly columnType: ColumnType;
  readonly columns: readonly string[];
}

export interface RunIdentity {
  readonly planId: string;
  /** The first Temporal run id of the execution: continue-as-new keeps it, a retry or a takeover has another. */
  readonly executionId: string;
}

/**
 * Holds the run open until the end of the transaction: closing it waits for us, and once it is closed we do not get here.
 * @throws {BackfillError} RunClosed
 */
export async function admit(tx: Tx, { planId, executionId }: RunIdentity, key: string): Promise<Admission> {
  const { rows } = await tx.query<Admission & { leafOid: string | null }>(
    `select pp.action, p.shape, p.definition_digest as "definitionDigest", p.build_digest as "buildDigest",
            p.column_type as "columnType", p.columns, pp.leaf_oid as "leafOid", pp.provisional
       from ${tx.ledger}.run r
       join ${tx.ledger}.plan p on p.plan_id = r.plan_id
       join ${tx.ledger}.plan_partition pp on pp.plan_id = r.plan_id and pp.key = $3 and pp.action <> 'leave'
      where r.plan_id = $1 and r.execution_id = $2 and r.state = 'open'
        for share of r`,
    [planId, executionId, key],
  );
  const row = rows[0];
  if (!row) {
    throw new BackfillError({
      type: FailureType.RunClosed,
      message: `${key} was not written: the run of plan ${planId} is closed, or goes on in another execution`,
    });
  }
  return { ...row, leafOid: row.leafOid === null ? null : Number(row.leafOid) };
}

/** Takes the partition's lock, which every writer of this software takes. Returns its generation. */
export async function lockPartition(tx: Tx, table: string, key: string): Promise<number> {
  const { rows } = await tx.query<{ generation: string }>(
    `insert into ${tx.ledger}.partition as p (table_name, key) values ($1, $2)
     on conflict (table_name, key) do update set key = excluded.key returning p.generation`,
    [table, key],
  );
  return Number(rows[0]?.generation ?? 0);
}

/** What an earlier attempt under this plan committed, if one did. */
export async function findReplacement(tx: Tx, planId: string, key: string): Promise<Replaced | undefined> {
  const { rows } = await tx.query<{ before: string; after: string; generation: string }>(
    `select rows_before as before, rows_after as after, generation from ${tx.ledger}.replacement where plan_id = $1 and key = $2`,
    [planId, key],
  );
  const row = rows[0];
  return (
    row && {
      key,
      status: 'already',
      rowsBefore: Number(row.before),
      rowsAfter: Number(row.after),
      generation: Number(row.generation),
    }
  );
}

export interface NewReplacement extends Replaced {
  readonly table: string;
  readonly planId: string;
  readonly buildDigest: string;
  readonly provisional: boolean;
  readonly attempt: number;
  readonly startedAt: Date;
  /** All rows carry the number of this transaction. */
  readonly isOurs: boolean;
}

/** The record of a replacement, in its own transaction. */
export async function recordReplacement(tx: Tx, done: NewReplacement): Promise<void> {
  await tx.query(
    `with moved as (
       update ${tx.ledger}.partition
          set generation = $3, plan_id = $4, row_count = $7, build_digest = $8, provisional = $9,
              xid = case when $12 then pg_catalog.pg_current_xact_id() end,
              replaced_at = pg_catalog.clock_timestamp(), failed_plan_id = null, failed_at = null
        where table_name = $1 and key = $2)
     insert into ${tx.ledger}.replacement
       (table_name, key, generation, plan_id, action, rows_before, rows_after, build_digest, attempt, started_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $10, $11)`,
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
      done.startedAt.toISOString(),
      done.isOurs,
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
