import type { FailureInfo } from '../../domain/failure.js';
import { MOST_FAILURE_BYTES, fitFailure } from '../../domain/fit-failure.js';
import type { FailureRecord, FailuresPage } from '../../domain/history.js';
import { cutPage } from '../../domain/page.js';
import type { Tx } from '../database.js';

/** Failures that are read at once: of the size at which we write them, more would not fit a page. */
const MOST_READ = 100;

/** Written by hand, or by an earlier version, one may be longer than any that we write. */
const MOST_READ_BYTES = 25 * MOST_FAILURE_BYTES;

interface FailureRow {
  readonly seq: number;
  readonly key: string;
  readonly at: string;
  readonly attempt: number;
  readonly info: FailureInfo;
}

/** The partitions of a plan on which its run gave up and which it has not written since, with the last word on each. */
export async function readFailuresPage(tx: Tx, planId: string, after = 0): Promise<FailuresPage> {
  const { rows } = await tx.query<FailureRow>(
    `select pp.seq, pp.key, f.failed_at as at, f.attempt, f.info
       from ${tx.ledger}.plan_partition pp
      cross join lateral (
              select failed_at, attempt, info from ${tx.ledger}.failure f
               where f.plan_id = pp.plan_id and f.key = pp.key order by failure_id desc limit 1) f
      where pp.plan_id = $1 and pp.seq > $2
        and not exists (select from ${tx.ledger}.replacement r where r.plan_id = pp.plan_id and r.key = pp.key)
      order by pp.seq limit $3`,
    [planId, after, MOST_READ + 1],
  );
  const { items, hasMore } = cutPage(rows.map(shorten), MOST_READ);
  return { failures: items.map(recordOf), next: hasMore ? (items.at(-1)?.seq ?? null) : null };
}

/** The first failures of a run, as they came; all of them are in {@link readFailuresPage}. */
export async function readFirstFailures(tx: Tx, planId: string): Promise<FailureRecord[]> {
  const { rows } = await tx.query<FailureRow>(
    `select 0 as seq, key, failed_at as at, attempt, info from ${tx.ledger}.failure
      where plan_id = $1 order by failure_id limit $2`,
    [planId, MOST_READ],
  );
  return cutPage(rows.map(shorten), MOST_READ, MOST_READ_BYTES).items.map(recordOf);
}

function shorten(row: FailureRow): FailureRow {
  return { ...row, info: fitFailure(row.info, MOST_READ_BYTES) };
}

function recordOf({ key, at, attempt, info }: FailureRow): FailureRecord {
  return { key, at: new Date(at).toISOString(), attempt, ...info };
}
