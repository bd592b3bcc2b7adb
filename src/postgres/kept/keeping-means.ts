import type { Definition } from '../../domain/definition.js';
import type { Partition } from '../../domain/range.js';
import { castOf } from '../../domain/sql-template.js';
import { quoteIdentifier, quoteTableName } from '../../domain/table-name.js';
import type { Tx } from '../database.js';
import type { Layout } from '../layout.js';
import { lowerAndUpper } from '../leaves.js';
import { attempt } from '../try-build.js';
import { TREE } from '../writing-problems.js';
import { MOST_COLUMNS, storedColumns } from './copy.js';

/** What it takes to keep the rows that a run replaces. */
export interface KeepingMeans {
  /** Why no copy can be made, with the remedy; null where it can. */
  readonly problem: string | null;
  /** What the rows of the range take, as the planner guesses; null where partitions are tables, whose size is known. */
  readonly rangeBytes: number | null;
}

export async function keepingMeans(
  tx: Tx,
  definition: Definition,
  { partitions, layout }: { readonly partitions: readonly Partition[]; readonly layout: Layout },
): Promise<KeepingMeans> {
  if (definition.keep === null) return { problem: null, rangeBytes: null };
  return {
    problem: await copyProblem(tx, definition, layout),
    rangeBytes: layout.isCutByColumn ? null : await guessBytes(tx, definition, partitions, layout),
  };
}

async function copyProblem(tx: Tx, { name }: Definition, { facts }: Layout): Promise<string | null> {
  const columns = storedColumns(facts).length;
  if (columns > MOST_COLUMNS) {
    return `${name} has ${columns} columns, and the copy of what is replaced can have ${MOST_COLUMNS}; set keepReplaced: '0'`;
  }
  const { rows } = await tx.query<{ role: string; may: boolean }>(
    `select quote_ident(current_user) as role, has_schema_privilege(to_regnamespace($1), 'create') as may`,
    [tx.ledger],
  );
  const [rights] = rows;
  if (!rights || rights.may) return null;
  return `The worker may not keep what it replaces, because it may make no table in schema ${tx.ledger}: grant create on schema ${tx.ledger} to ${rights.role}; or set keepReplaced: '0'`;
}

/** Of a table whose rows lie together: the part of its size that the planner takes the range for. */
async function guessBytes(
  tx: Tx,
  { table, partitioning }: Definition,
  partitions: readonly Partition[],
  { facts, columnType }: Layout,
): Promise<number> {
  const [first, last] = [partitions[0], partitions.at(-1)];
  if (!first || !last) return 0;
  const column = `t.${quoteIdentifier(partitioning.column)}`;
  const type = castOf(columnType);
  const planned = await attempt(tx, () =>
    tx.query<{ 'QUERY PLAN': readonly [{ Plan: { 'Plan Rows': number } }] }>(
      `explain (format json) select from ${quoteTableName(table)} t where ${column} >= $1::${type} and ${column} < $2::${type}`,
      [lowerAndUpper(first, columnType).lower, lowerAndUpper(last, columnType).upper],
    ),
  );
  // Who may not read the table is told so of its rights.
  if (typeof planned === 'string') return 0;
  const { rows } = await tx.query<{ rows: number; bytes: string }>(
    `select coalesce(sum(greatest(reltuples, 0)), 0)::float8 as rows, coalesce(sum(pg_table_size(oid)), 0) as bytes
       from pg_class where relkind = 'r' and (oid = $1 or oid in (${TREE}))`,
    [facts.oid],
  );
  const [size] = rows;
  const inRange = planned.rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
  if (!size || size.rows === 0) return Number(size?.bytes ?? 0);
  return Math.round((Math.min(inRange, size.rows) / size.rows) * Number(size.bytes));
}
