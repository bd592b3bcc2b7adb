import type { Definition } from '../domain/definition.js';
import { type Origin, isForeign } from '../domain/origin.js';
import type { Partition } from '../domain/range.js';
import { type ColumnType, type SqlTemplate, printSql } from '../domain/sql-template.js';
import { quoteTableName } from '../domain/table-name.js';
import { buildColumns, columnProblems, columnsOfCode } from './build-columns.js';
import type { TableFacts } from './catalog.js';
import { checksStatement } from './checks.js';
import type { Tx } from './database.js';
import { precisionOf } from './layout.js';
import { insertStatement } from './strategies/delete-insert.js';
import { type Target, inlineFor } from './target.js';

/** Transactions of the table's own database and, for builds that run in another one, of that. */
export interface Asked {
  readonly tx: Tx;
  /** Where the build runs. */
  readonly source: Tx;
}

/** The text in which names are looked for; nothing can be known of code. */
export function textOf(origin: Origin): string {
  return origin.kind === 'sql' ? printSql(origin.build) : '';
}

/** Prepares the build and the checks, and runs neither. A build that PostgreSQL refuses is a problem of the plan. */
export async function tryBuild(
  { tx, source }: Asked,
  definition: Definition,
  facts: TableFacts,
  columnType: ColumnType,
  partitions: readonly Partition[],
): Promise<{ columns: string[]; problems: string[] }> {
  const partition = partitions[0];
  if (!partition) return { columns: [], problems: [] };
  const { table, partitioning, origin } = definition;
  const restores = origin.kind === 'sql' ? origin.restores : null;
  const precision = precisionOf(definition, facts);
  const target: Target = {
    table,
    column: partitioning.column,
    columnType,
    precision,
    partition,
    columns: [],
    restores,
  };
  const columns = origin.kind === 'sql' ? await askColumns(source, target, origin.build) : columnsOfCode(origin, facts);
  if (typeof columns === 'string') return { columns: [], problems: [`The build cannot run: ${columns}`] };
  // What is put back lacks columns that came since; whether that can be was looked at before.
  const problems = restores ? [] : columnProblems(columns, facts.columns);
  if (origin.kind === 'sql' && !isForeign(origin) && problems.length === 0) {
    const insert = insertStatement(tx, { ...target, columns }, origin.build, quoteTableName(table));
    const planned = await attempt(tx, () => tx.asUser(() => tx.query(`explain ${insert.text}`, insert.values)));
    if (typeof planned === 'string') problems.push(`The build cannot be inserted: ${planned}`);
  }
  if (needsTemporary(definition) && !(await mayMakeTemporary(tx))) problems.push(NO_TEMPORARY);
  const { text, values } = checksStatement(target, definition.checks, quoteTableName(table));
  const explained = await attempt(tx, () => tx.asUser(() => tx.query(`explain ${text}`, values)));
  if (typeof explained === 'string') problems.push(`A check cannot run: ${explained}`);
  return { columns, problems };
}

/**
 * A cursor is declared for the build as it stands: PostgreSQL takes one query there that writes nothing. Within brackets
 * alone, `…) union all select … from (…` would be taken as well, and bring rows that no one looks at.
 */
async function askColumns(tx: Tx, target: Target, build: SqlTemplate): Promise<string[] | string> {
  return attempt(tx, () =>
    tx.asUser(async () => {
      await tx.queryOne(`declare backfill_build no scroll cursor for ${inlineFor(target, build)}\n`);
      await tx.query('close backfill_build');
      return buildColumns(tx, target, build);
    }),
  );
}

const NO_TEMPORARY =
  'The worker may not make temporary tables, in which new rows wait: grant temporary on the database to it';

function needsTemporary({ origin, strategy }: Definition): boolean {
  return isForeign(origin) || strategy !== 'delete-insert';
}

async function mayMakeTemporary(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ may: boolean }>(
    `select has_database_privilege(current_database(), 'temporary') as may`,
  );
  return rows[0]?.may ?? false;
}

/** The error's text where a statement fails; the transaction stays usable. */
export async function attempt<T>(tx: Tx, run: () => Promise<T>): Promise<T | string> {
  await tx.query('savepoint try');
  try {
    return await run();
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    // Trouble with the connection is not the definition's.
    if (typeof code !== 'string' || !/^(?:42|22|0A|2[0-46-9]|25006|55000|HV)/.test(code)) throw error;
    await tx.query('rollback to savepoint try');
    return `${error instanceof Error ? error.message : String(error)} (SQLSTATE ${code})`;
  }
}
