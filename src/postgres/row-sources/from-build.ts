import type { SqlTemplate } from '../../domain/sql-template.js';
import type { Tx } from '../database.js';
import { STAGED } from '../staged.js';
import { type Target, quoteColumns, renderFor } from '../target.js';

/** A query in the table's own database, in the replacement's own transaction. */
export async function fillFromBuild(tx: Tx, target: Target, build: SqlTemplate): Promise<number> {
  const { text, values } = renderFor(target, build);
  const columns = quoteColumns(target.columns);
  const { rowCount } = await tx.query(
    `insert into ${STAGED} (${columns}) select ${quoteColumns(target.columns, 'b.')} from (${text}\n) as b`,
    values,
  );
  return rowCount ?? 0;
}
