import type { Definition } from '../domain/definition.js';
import type { PartitionFacts } from '../domain/planning.js';
import type { Partition } from '../domain/range.js';
import { type ColumnType, printSql } from '../domain/sql-template.js';
import { quoteIdentifier, quoteTableName } from '../domain/table-name.js';
import { buildColumns, columnProblems } from './build-columns.js';
import { type TableFacts, readTable, supportedColumnType } from './catalog.js';
import { checksStatement } from './checks.js';
import type { Tx } from './database.js';
import { type Leaf, type Leaves, lowerAndUpper, matchLeaves, readLeaves } from './leaves.js';
import { followMentions } from './mentions.js';
import type { Target } from './target.js';
import { insertStatement } from './strategies/delete-insert.js';
import { readRowTriggers, writingProblems } from './writing-problems.js';

/** All that a plan needs to know of the table and of the partitions of a range. Read in one read-only transaction. */
export interface Survey {
  readonly facts: TableFacts;
  readonly columnType: ColumnType;
  readonly columns: readonly string[];
  /** Definitions of the views and functions that the build uses. */
  readonly mentions: readonly { readonly name: string; readonly definition: string }[];
  readonly partitions: readonly PartitionFacts[];
  /** Reasons for which nothing may be written, in sentences. */
  readonly problems: readonly string[];
  /** Names of the table's own triggers that fire for each row that a run deletes or inserts. */
  readonly rowTriggers: readonly string[];
  /** Name of the default partition, where there is one. */
  readonly defaultName: string | null;
  /** Partitions of the table that begin after the range. */
  readonly laterPartitions: number;
}

export interface SurveyOptions {
  /** Look into every existing partition for a first row. */
  readonly askEmpty: boolean;
}

/** @returns a sentence instead, where the table cannot be looked at */
export async function survey(
  tx: Tx,
  definition: Definition,
  partitions: readonly Partition[],
  options: SurveyOptions,
): Promise<Survey | string> {
  const facts = await readTable(tx, definition.table);
  const columnType = facts && supportedColumnType(facts);
  if (!facts || !columnType || facts.rangeColumn !== definition.partitioning.column)
    return whyNotSupported(definition, facts);
  const leaves = await readLeaves(tx, facts.oid, columnType);
  const mentions = await followMentions(tx, printSql(definition.build));
  const build = await tryBuild(tx, definition, facts, columnType, partitions);
  return {
    facts,
    columnType,
    columns: build.columns,
    mentions: mentions.definitions,
    partitions: await partitionFacts(tx, definition, partitions, { leaves, columnType, options }),
    problems: [
      ...build.problems,
      ...(mentions.relations.has(facts.oid) && !definition.cumulative
        ? [`The build reads ${definition.name} itself; declare it cumulative where it reads earlier partitions only`]
        : []),
      ...(await writingProblems(tx, definition, facts.oid)),
      ...boundsProblems(definition, leaves.leaves, partitions, columnType),
    ],
    rowTriggers: await readRowTriggers(tx, facts.oid),
    defaultName: leaves.defaultName,
    laterPartitions: countLater(leaves, partitions, columnType),
  };
}

/** Why a table cannot be backfilled, in a sentence. */
export function whyNotSupported({ name, partitioning }: Definition, facts: TableFacts | null): string {
  if (!facts) return `There is no table ${name} in the database`;
  const is = facts.isPartitioned ? `partitioned by ${facts.partitionKey ?? ''}` : 'not partitioned';
  return `${name} is ${is}; it must be partitioned by range (${quoteIdentifier(partitioning.column)}) on a date or timestamptz column`;
}

/** Prepares the build and the checks, and runs neither. A build that PostgreSQL refuses is a problem of the plan. */
export async function tryBuild(
  tx: Tx,
  definition: Definition,
  facts: TableFacts,
  columnType: ColumnType,
  partitions: readonly Partition[],
): Promise<{ columns: string[]; problems: string[] }> {
  const partition = partitions[0];
  if (!partition) return { columns: [], problems: [] };
  const target: Target = {
    table: definition.table,
    column: definition.partitioning.column,
    columnType,
    partition,
    columns: [],
  };
  const columns = await attempt(tx, () => tx.asUser(() => buildColumns(tx, target, definition.build)));
  if (typeof columns === 'string') return { columns: [], problems: [`The build cannot run: ${columns}`] };
  const problems = columnProblems(columns, facts.columns);
  if (problems.length === 0) {
    const insert = insertStatement(tx, { ...target, columns }, definition.build, quoteTableName(definition.table));
    const planned = await attempt(tx, () => tx.asUser(() => tx.query(`explain ${insert.text}`, insert.values)));
    if (typeof planned === 'string') problems.push(`The build cannot be inserted: ${planned}`);
  }
  const { text, values } = checksStatement(target, definition.checks, quoteTableName(definition.table));
  const explained = await attempt(tx, () => tx.asUser(() => tx.query(`explain ${text}`, values)));
  if (typeof explained === 'string') problems.push(`A check cannot run: ${explained}`);
  return { columns, problems };
}

/** The error's text where a statement fails; the transaction stays usable. */
export async function attempt<T>(tx: Tx, run: () => Promise<T>): Promise<T | string> {
  await tx.query('savepoint try');
  try {
    return await run();
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    // Trouble with the connection is not the definition's.
    if (typeof code !== 'string' || !/^(?:42|22|0A|2[0-9]|55000|HV)/.test(code)) throw error;
    await tx.query('rollback to savepoint try');
    return `${error instanceof Error ? error.message : String(error)} (SQLSTATE ${code})`;
  }
}

function boundsProblems(
  { name }: Definition,
  leaves: readonly Leaf[],
  partitions: readonly Partition[],
  columnType: ColumnType,
): string[] {
  const others = new Map<number, string>();
  matchLeaves(leaves, partitions, columnType).forEach((match, i) => {
    const partition = partitions[i];
    if (!partition || match.kind === 'missing' || (match.kind === 'exact' && !match.leaf.isDetaching)) return;
    const { leaf } = match;
    const { lower, upper } = lowerAndUpper(partition, columnType);
    if (others.has(leaf.oid)) return;
    others.set(
      leaf.oid,
      leaf.isDetaching
        ? `${leaf.name} is half detached from ${name}: finish with "alter table ${name} detach partition ${leaf.name} finalize"`
        : `${leaf.name} holds [${leaf.lower}, ${leaf.upper}), and ${partition.key} is [${lower}, ${upper}): partitions must have the definition's bounds`,
    );
  });
  return [...others.values()];
}

function countLater({ leaves }: Leaves, partitions: readonly Partition[], columnType: ColumnType): number {
  const last = partitions.at(-1);
  if (!last) return 0;
  const { upper } = lowerAndUpper(last, columnType);
  return leaves.filter((leaf) => leaf.lower !== '-infinity' && leaf.lower >= upper).length;
}

interface LedgerRow {
  key: string;
  generation: string | null;
  rows: string | null;
  build: string | null;
  provisional: boolean | null;
  failed: boolean | null;
  empty: boolean | null;
}

async function partitionFacts(
  tx: Tx,
  definition: Definition,
  partitions: readonly Partition[],
  context: { leaves: Leaves; columnType: ColumnType; options: SurveyOptions },
): Promise<PartitionFacts[]> {
  const { leaves, columnType, options } = context;
  const matches = matchLeaves(leaves.leaves, partitions, columnType);
  const bounds = partitions.map((partition) => lowerAndUpper(partition, columnType));
  const type = columnType === 'date' ? 'date' : 'timestamptz';
  const column = quoteIdentifier(definition.partitioning.column);
  const empty = options.askEmpty
    ? `not exists (select from ${quoteTableName(definition.table)} t where t.${column} >= k.lower::${type} and t.${column} < k.upper::${type})`
    : 'null::boolean';
  const { rows } = await tx.query<LedgerRow>(
    `select k.key, p.generation, p.row_count as rows, p.build_digest as build, p.provisional, p.failed_at is not null as failed, ${empty} as empty
       from rows from (pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[])) with ordinality as k (key, lower, upper, n)
       left join ${tx.ledger}.partition p on p.table_name = $1 and p.key = k.key
      order by k.n`,
    [
      definition.name,
      partitions.map(({ key }) => key),
      bounds.map(({ lower }) => lower),
      bounds.map(({ upper }) => upper),
    ],
  );
  return rows.map((row, i) => {
    const match = matches[i];
    const leaf = match?.kind === 'exact' ? match.leaf : null;
    return {
      key: row.key,
      leaf,
      isEmpty: row.empty,
      generation: Number(row.generation ?? 0),
      rowsRecorded: row.rows === null ? null : Number(row.rows),
      buildDigest: row.build,
      isProvisional: row.provisional ?? false,
      hasFailed: row.failed ?? false,
    };
  });
}
