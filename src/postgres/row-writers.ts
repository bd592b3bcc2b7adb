import type { Tx } from './database.js';
import { type Target, quoteTarget, withinBounds } from './target.js';

/** Some rows of a partition, as a condition on the table under the name `t`. */
export type Rows = string;

/** How many there are. */
export async function countRows(tx: Tx, target: Target, rows: Rows): Promise<number> {
  const within = withinBounds(target, 1);
  const counted = await tx.query<{ n: string }>(
    `select pg_catalog.count(*) as n from ${quoteTarget(target)} as t where ${within.text} and ${rows}`,
    within.values,
  );
  return Number(counted.rows[0]?.n ?? 0);
}

/**
 * Whether this transaction wrote the rows. A trigger with an exception block writes under the number of a
 * subtransaction, which is in progress as we are; whatever else we see was committed by another. A row carries half of
 * a number only: the other half is such that it comes after ours, or the row was not ours.
 */
export async function wroteRows(tx: Tx, target: Target, rows: Rows): Promise<boolean> {
  const within = withinBounds(target, 1);
  const written = await tx.query<{ others: string }>(
    `select count(*) as others
       from (select distinct xmin::text::bigint as half from ${quoteTarget(target)} as t where ${within.text} and ${rows}) w
      cross join (select pg_current_xact_id()::text::bigint as ours) x
      cross join lateral (select ((half - ours) % 4294967296 + 4294967296) % 4294967296 as later) n
      where case when half < 3 or later >= 2147483648 then true
                 else pg_xact_status((ours + later)::text::xid8) is distinct from 'in progress' end`,
    within.values,
  );
  return Number(written.rows[0]?.others) === 0;
}
