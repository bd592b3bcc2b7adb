import type { Tx } from './database.js';
import { type Target, quoteTarget, withinBounds } from './target.js';

/**
 * Whether this transaction wrote all rows of the partition. A trigger with an exception block writes under the number of
 * a subtransaction, which is in progress as we are; whatever else we see was committed by another. A row carries half of
 * a number only: the other half is such that it comes after ours, or the row was not ours.
 */
export async function wroteAllRows(tx: Tx, target: Target): Promise<boolean> {
  const within = withinBounds(target, 1);
  const { rows } = await tx.query<{ others: string }>(
    `select count(*) as others
       from (select distinct xmin::text::bigint as half from ${quoteTarget(target)} where ${within.text}) w
      cross join (select pg_current_xact_id()::text::bigint as ours) t
      cross join lateral (select ((half - ours) % 4294967296 + 4294967296) % 4294967296 as later) n
      where case when half < 3 or later >= 2147483648 then true
                 else pg_xact_status((ours + later)::text::xid8) is distinct from 'in progress' end`,
    within.values,
  );
  return Number(rows[0]?.others) === 0;
}
