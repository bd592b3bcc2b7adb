import type { CodeOrigin } from '../domain/origin.js';
import type { SqlTemplate } from '../domain/sql-template.js';
import type { ColumnFacts, TableFacts } from './catalog.js';
import type { Tx } from './database.js';
import { type Target, renderFor } from './target.js';

/** The names of the columns that a build gives. With `limit 0` the query is planned and not run. */
export async function buildColumns(tx: Tx, target: Target, build: SqlTemplate): Promise<string[]> {
  const { text, values } = renderFor(target, build);
  const result = (await tx.query(`select * from (${text}\n) as b limit 0`, values)) as { fields?: { name: string }[] };
  return (result.fields ?? []).map(({ name }) => name);
}

/** The same of code, which says so, or gives all that the table does not fill by itself. */
export function columnsOfCode({ columns }: CodeOrigin, table: TableFacts): string[] {
  if (columns) return [...columns];
  return table.columns.filter((one) => !one.hasValueOfItsOwn && !one.isGenerated).map(({ name }) => name);
}

/** What is wrong with the build's columns, in sentences; empty where they fit the table's. */
export function columnProblems(given: readonly string[], table: readonly ColumnFacts[]): string[] {
  const known = new Map(table.map((column) => [column.name, column]));
  const twice = given.filter((name, i) => given.indexOf(name) !== i);
  const extra = given.filter((name) => !known.has(name));
  const generated = given.filter((name) => known.get(name)?.isGenerated);
  const missing = table
    .filter(({ name, hasValueOfItsOwn }) => !hasValueOfItsOwn && !given.includes(name))
    .map(({ name }) => name);
  const sentence = (names: readonly string[], text: string) =>
    names.length === 0 ? [] : [`${text}: ${names.join(', ')}`];
  return [
    ...sentence(twice, 'The build gives a column twice'),
    ...sentence(extra, 'The build gives a column that the table does not have'),
    ...sentence(generated, 'The build gives a column that the table generates itself'),
    ...sentence(missing, 'The build does not give a column of the table'),
  ];
}
