import pg from 'pg';
import { copyColumns, copyName } from '../../domain/keep.js';
import type { TableName } from '../../domain/table-name.js';
import { quoteIdentifier, quoteTableName } from '../../domain/table-name.js';
import type { TableFacts } from '../catalog.js';
import type { Tx } from '../database.js';
import { quoteColumns } from '../target.js';

/** Of the most that PostgreSQL lets a table have, two are the copy's own. */
export const MOST_COLUMNS = 1_600 - 2;

/** The columns whose values are somewhere: the others are computed when the rows are put back. */
export function storedColumns({ columns }: Pick<TableFacts, 'columns'>): string[] {
  return columns.filter(({ isGenerated }) => !isGenerated).map(({ name }) => name);
}

/** @param relation as the ledger has it */
export function quoteCopy(ledger: string, relation: string): string {
  return `${ledger}.${quoteIdentifier(relation)}`;
}

/**
 * Makes the table that takes the rows which a run replaces: the columns of the table, by name and type, with none of its
 * constraints. Rows come in about the order of their partitions, so that an index of block ranges finds those of one key;
 * a B-tree would be paid for by every run, and is of use to the few that are undone.
 * @returns its name
 */
export async function makeCopy(
  tx: Tx,
  table: TableName,
  { planId, columns }: { readonly planId: string; readonly columns: readonly string[] },
): Promise<string> {
  const relation = copyName(planId);
  const own = copyColumns(columns);
  const copy = quoteCopy(tx.ledger, relation);
  await tx.query(
    `create table ${copy} as
     select null::pg_catalog.text as ${quoteIdentifier(own.key)}, null::pg_catalog.bool as ${quoteIdentifier(own.isNew)}, ${quoteColumns(columns)}
       from ${quoteTableName(table)} with no data;
     create index on ${copy} using brin (${quoteIdentifier(own.key)}) with (pages_per_range = 32);
     comment on table ${copy} is ${pg.escapeLiteral(`What the run of plan ${planId} replaced in ${quoteTableName(table)}; dropped by the workflow sweep.`)}`,
  );
  return relation;
}

/** Without it the planner reads the whole copy for each partition. */
export async function readyCopy(tx: Tx, relation: string): Promise<void> {
  const copy = quoteCopy(tx.ledger, relation);
  const { rows } = await tx.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index where indrelid = to_regclass($1)`,
    [copy],
  );
  for (const { name } of rows) await tx.query(`select brin_summarize_new_values($1::regclass)`, [name]);
  await tx.query(`analyze ${copy}`);
}

/** Where the rows of one replacement are kept. */
export interface Keeping {
  /** The copy, quoted; null where there is none, because nothing that is there is replaced. */
  readonly copy: string | null;
  /** Of the table, as far as the copy has them. */
  readonly columns: readonly string[];
  /** Of the partition. */
  readonly key: string;
}

/**
 * The same statement, which also puts the rows that it returns into the copy. One message, and as many rows touched.
 * @param statement deletes, updates, inserts or locks rows; without its `returning`
 */
export function keeping(
  statement: string,
  keep: Keeping | null,
  {
    as = '',
    isNew = false,
  }: { /** The rows' name, with a dot. */ readonly as?: string; readonly isNew?: boolean } = {},
): string {
  if (!keep?.copy) return statement;
  return keepText(`${statement} returning ${quoteColumns(keep.columns, as)}`, { ...keep, copy: keep.copy }, isNew);
}

/** @param query gives the columns of the copy that are the table's */
export function keepText(query: string, { copy, columns, key }: Keeping & { readonly copy: string }, isNew: boolean) {
  const own = copyColumns(columns);
  return `with kept_rows as (${query})
    insert into ${copy} (${quoteIdentifier(own.key)}, ${quoteIdentifier(own.isNew)}, ${quoteColumns(columns)})
    select ${pg.escapeLiteral(key)}, ${isNew}, ${quoteColumns(columns)} from kept_rows`;
}
