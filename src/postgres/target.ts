import pg from 'pg';
import {
  type ColumnType,
  type BoundValues,
  castOf,
  type SqlText,
  type SqlTemplate,
  type Scalar,
  inlineSql,
  renderSql,
} from '../domain/sql-template.js';
import type { Partition } from '../domain/range.js';
import { quoteIdentifier, quoteTableName, type TableName } from '../domain/table-name.js';
import { lowerAndUpper } from './leaves.js';
import { arrayText, scalarText } from './text-form.js';

/** The table that is written, and the one partition of it, in the form in which statements need them. */
export interface Target {
  readonly table: TableName;
  readonly column: string;
  readonly columnType: ColumnType;
  /** Digits of its fractions of a second, where the column rounds to fewer than six. */
  readonly precision: number | null;
  readonly partition: Partition;
  /** The columns that the build gives, in its order. */
  readonly columns: readonly string[];
  /** Rows are put back as they were: columns among them that the table numbers itself. Null for rows of a build. */
  readonly restores: readonly string[] | null;
}

/** The values of a build's bounds for one partition. */
export function boundValues(partition: Partition, columnType: ColumnType): BoundValues {
  const { start, end, startDate, endDate, key } = partition;
  const { lower, upper } = lowerAndUpper(partition, columnType);
  return { start, end, startDate, endDate, startValue: lower, endValue: upper, key };
}

/** `column >= start and column < end`, with its two values, fit to stand beside SQL of a definition. */
export function withinBounds(target: Target, startAt: number, column = quoteIdentifier(target.column)): SqlText {
  const { lower, upper } = lowerAndUpper(target.partition, target.columnType);
  return { text: between(target, column, `$${startAt}`, `$${startAt + 1}`), values: [lower, upper] };
}

/** The same as one text, for a message of several statements, which takes no parameters. */
export function withinLiterals(target: Target, column = quoteIdentifier(target.column)): string {
  const { lower, upper } = lowerAndUpper(target.partition, target.columnType);
  return between(target, column, pg.escapeLiteral(lower), pg.escapeLiteral(upper));
}

function between({ columnType }: Target, column: string, lower: string, upper: string): string {
  const cast = castOf(columnType);
  return `${column} operator(pg_catalog.>=) ${lower}::${cast} and ${column} operator(pg_catalog.<) ${upper}::${cast}`;
}

/** The build's column, as the value that would be inserted: 23:59:59.7 in a `timestamp(0)` is of the next day. */
export function builtKey({ column, columnType, precision }: Target): string {
  return `b.${quoteIdentifier(column)}::${castOf(columnType)}${precision === null ? '' : `(${precision})`}`;
}

export function renderFor(target: Target, template: SqlTemplate, startAt = 1): SqlText {
  return renderSql(template, boundValues(target.partition, target.columnType), target.columnType, startAt);
}

/** As one text without parameters, for COPY, which takes none. */
export function inlineFor(target: Target, template: SqlTemplate): string {
  return inlineSql(template, boundValues(target.partition, target.columnType), target.columnType, literal);
}

/** Without a type, as the driver sends parameters. */
function literal(value: Scalar): string {
  if (value === null) return 'null';
  const element = (one: unknown) => (one === null ? null : scalarText(one as string | number | boolean));
  return pg.escapeLiteral(Array.isArray(value) ? arrayText(value, element) : scalarText(value as string));
}

export function quoteColumns(columns: readonly string[], prefix = ''): string {
  return columns.map((column) => prefix + quoteIdentifier(column)).join(', ');
}

/** `insert into … (…)`, to be followed by a query that gives the columns. @param into quoted name */
export function insertInto({ columns, restores }: Pick<Target, 'columns' | 'restores'>, into: string): string {
  return `insert into ${into} (${quoteColumns(columns)})${restores ? ' overriding system value' : ''}`;
}

export function quoteTarget(target: Target): string {
  return quoteTableName(target.table);
}
