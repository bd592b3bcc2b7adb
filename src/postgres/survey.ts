import type { Definition } from '../domain/definition.js';
import type { BuildEstimate } from '../domain/plan.js';
import type { PartitionFacts } from '../domain/planning.js';
import type { Partition } from '../domain/range.js';
import type { ChosenStrategy } from '../domain/strategy.js';
import type { ColumnType } from '../domain/sql-template.js';
import { quoteIdentifier } from '../domain/table-name.js';
import { type TableFacts, readTable } from './catalog.js';
import type { Tx } from './database.js';
import { estimateBuild } from './estimate-build.js';
import { heldInDefault } from './held-in-default.js';
import { type KeepingMeans, keepingMeans } from './kept/keeping-means.js';
import { layoutOf, precisionOf } from './layout.js';
import { type Leaves, readLeaves } from './leaves.js';
import { followMentions } from './mentions.js';
import { partitionFacts } from './partition-facts.js';
import { isBefore, positionsOf } from './positions.js';
import { pickStrategy } from './pick-strategy.js';
import { type Asked, textOf, tryBuild } from './try-build.js';
import { readRowTriggers, writingProblems } from './writing-problems.js';

/** All that a plan needs to know of the table and of the partitions of a range. Read in one read-only transaction. */
export interface Survey {
  readonly facts: TableFacts;
  readonly columnType: ColumnType;
  readonly columns: readonly string[];
  /** Definitions of the views and functions that the build uses. */
  readonly mentions: readonly { readonly name: string; readonly definition: string }[];
  readonly partitions: readonly PartitionFacts[];
  readonly strategy: ChosenStrategy;
  readonly estimates: readonly BuildEstimate[];
  /** Reasons for which nothing may be written, in sentences. */
  readonly problems: readonly string[];
  /** Names of the table's own triggers that fire for each row that a run deletes or inserts. */
  readonly rowTriggers: readonly string[];
  /** What a reader of the plan should know of the table. */
  readonly warnings: readonly string[];
  /** Name of the default partition, where there is one. */
  readonly defaultName: string | null;
  /** Partitions of the table that begin after the range. */
  readonly laterPartitions: number;
  /** What it takes to keep what a run replaces. */
  readonly keeping: KeepingMeans;
}

export interface SurveyOptions {
  /** Look into every existing partition for a first row. */
  readonly askEmpty: boolean;
}

const NO_LEAVES: Leaves = { leaves: [], defaultName: null };

/** @returns a sentence instead, where the table cannot be backfilled as it is */
export async function survey(
  asked: Asked,
  definition: Definition,
  partitions: readonly Partition[],
  options: SurveyOptions,
): Promise<Survey | string> {
  const { tx } = asked;
  const layout = layoutOf(definition, await readTable(tx, definition.table));
  if (typeof layout === 'string') return layout;
  const { facts, columnType, isCutByColumn } = layout;
  const leaves = isCutByColumn ? await readLeaves(tx, facts.oid, columnType) : NO_LEAVES;
  const mentions = await followMentions(asked.source, textOf(definition.origin));
  const build = await tryBuild(asked, definition, facts, columnType, partitions);
  const { table, partitioning } = definition;
  const precision = precisionOf(definition, facts);
  const target = { table, column: partitioning.column, columnType, precision, columns: build.columns, restores: null };
  const strategy = await pickStrategy(tx, definition, { oid: facts.oid, given: build.columns });
  const found = await partitionFacts(tx, definition, partitions, { layout, leaves: leaves.leaves, ...options });
  const missing = partitions.filter((_, i) => found[i]?.home === 'missing');
  const { defaultName } = leaves;
  const mayBeHeld = strategy.isReferenced && defaultName !== null && missing.length > 0;
  return {
    facts,
    columnType,
    columns: build.columns,
    mentions: mentions.definitions,
    partitions: found,
    strategy,
    estimates: build.problems.length > 0 ? [] : await estimateBuild(asked.source, definition, target, partitions),
    problems: [
      ...build.problems,
      ...strategy.problems,
      ...(mayBeHeld ? await heldInDefault(tx, definition, { defaultName, columnType }, missing) : []),
      ...(asked.source === tx && mentions.relations.has(facts.oid) && !definition.cumulative
        ? [`The build reads ${definition.name} itself; declare it cumulative where it reads earlier partitions only`]
        : []),
      ...(await writingProblems(tx, definition, facts.oid)),
    ],
    rowTriggers: await readRowTriggers(tx, facts.oid),
    warnings: [...strategy.warnings, ...(isCutByColumn ? [] : await layoutWarnings(tx, definition, facts))],
    defaultName,
    laterPartitions: countLater(leaves, partitions, columnType),
    keeping: await keepingMeans(tx, definition, { partitions, layout }),
  };
}

/** Where the column does not decide in which partition a row lies, rows are found by the column itself. */
async function layoutWarnings(tx: Tx, { name, partitioning }: Definition, facts: TableFacts): Promise<string[]> {
  const column = quoteIdentifier(partitioning.column);
  const index = await missingIndex(tx, { name, partitioning }, facts);
  return [
    ...(facts.isPartitioned
      ? [
          `${name} is partitioned by ${facts.partitionKey ?? ''}, not by range (${column}): none of its partitions is created`,
        ]
      : []),
    ...(index === null
      ? []
      : [`No index of ${name} begins with ${column}, so that each key reads all of it: ${index}`]),
  ];
}

/** The statement that makes the index by which the rows of a key are found; null where there is one. */
export async function missingIndex(
  tx: Tx,
  { name, partitioning }: Pick<Definition, 'name' | 'partitioning'>,
  facts: TableFacts,
): Promise<string | null> {
  const { rows } = await tx.query(
    `select from pg_catalog.pg_index i join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
      where i.indrelid = $1 and a.attname = $2 and i.indisvalid and i.indpred is null`,
    [facts.oid, partitioning.column],
  );
  return rows.length > 0 ? null : `create index on ${name} (${quoteIdentifier(partitioning.column)})`;
}

function countLater({ leaves }: Leaves, partitions: readonly Partition[], columnType: ColumnType): number {
  const last = partitions.at(-1);
  if (!last) return 0;
  const { upper } = positionsOf(last, columnType);
  return leaves.filter(({ lower }) => !isBefore(lower, upper)).length;
}
