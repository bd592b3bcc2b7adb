import { BackfillError, FailureType } from '../domain/failure.js';
import type { SqlTemplate } from '../domain/sql-template.js';
import { quoteIdentifier } from '../domain/table-name.js';
import type { Tx } from './database.js';
import { type Target, builtKey, renderFor, withinBounds } from './target.js';

/** A build gave a row that does not belong to its partition. Which, is found out afterwards. */
export class StrayRow extends Error {
  override readonly name = 'StrayRow';
  readonly target: Target;
  readonly build: SqlTemplate;
  constructor(target: Target, build: SqlTemplate, options: ErrorOptions) {
    super('The build gave a row outside its partition', options);
    this.target = target;
    this.build = build;
  }
}

/** The function `reject_stray_row` of the ledger raises this SQLSTATE. */
export function isStrayRow(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'BF001';
}

/** What is known without a second look: the build may have side effects that a read-only one refuses. */
export function countlessStrayRows({ target, cause }: StrayRow): BackfillError {
  const said = cause instanceof Error ? cause.message : 'the build yields a row outside its partition';
  return new BackfillError({ type: FailureType.StrayRows, message: `${target.partition.key}: ${said}` }, { cause });
}

/**
 * Says how many rows of the build lie outside the partition. The build runs once more for that, only after it failed:
 * counting before each insert would double its cost.
 */
export async function describeStrayRows(tx: Tx, cause: StrayRow): Promise<BackfillError> {
  const { target, build } = cause;
  const query = renderFor(target, build);
  const within = withinBounds(target, query.values.length + 1, builtKey(target));
  const { rows } = await tx.asUser(() =>
    tx.query<{ outside: string; example: string | null }>(
      `select pg_catalog.count(*) as outside, pg_catalog.min(b.${quoteIdentifier(target.column)}::pg_catalog.text) as example
         from (${query.text}\n) as b where (${within.text}) is not true`,
      [...query.values, ...within.values],
    ),
  );
  return strayRows(target, rows[0], cause);
}

/** @param found how many rows, and the partition column of one, as text */
export function strayRows(
  { column, partition }: Target,
  found: { readonly outside: string; readonly example: string | null } | undefined,
  cause?: StrayRow,
): BackfillError {
  const { outside = '0', example = null } = found ?? {};
  const where = `${column} = ${example ?? 'null'}`;
  const message = `${partition.key}: ${outside} rows of the build lie outside the partition, for example ${where}`;
  return new BackfillError({ type: FailureType.StrayRows, message, sample: [example ?? 'null'] }, { cause });
}
