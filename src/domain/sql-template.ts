import type { NumberForm } from './grain.js';

/** What a build may ask of its partition. Instants are timestamptz, dates are date, values have the partition column's type. */
export type BoundName = 'start' | 'end' | 'startDate' | 'endDate' | 'startValue' | 'endValue' | 'key';

/** Stands in a template for a bound of the partition. Plain data, so that two copies of this module understand each other. */
export interface BoundMarker {
  readonly backfillBound: BoundName;
}

/** Stands in a check's query for the name of the new rows' relation. */
export interface RowsMarker {
  readonly backfillRows: true;
}

/** The relation that holds the new rows while checks run. */
export const NEW_ROWS = 'new_rows';

export type Scalar = string | number | bigint | boolean | null | readonly (string | number | boolean | null)[];

/** SQL text cut at its parameters: `strings` has one element more than `params`. */
export interface SqlTemplate {
  readonly strings: readonly string[];
  readonly params: readonly (BoundMarker | Scalar)[];
}

/** The bounds of one partition, each as text that PostgreSQL reads as the type that {@link BoundTypes} names. */
export type BoundValues = Readonly<Record<BoundName, string>>;

export interface SqlText {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The column by which a table is cut: its type, and of an integer what its numbers mean. */
export type ColumnType =
  'date' | 'timestamp with time zone' | 'timestamp without time zone' | `${'integer' | 'bigint'} as ${NumberForm}`;

/** Its type as a cast names it. */
export function castOf(columnType: ColumnType): string {
  const [type = ''] = columnType.split(' as ');
  const casts: Readonly<Record<string, string>> = {
    date: 'date',
    'timestamp with time zone': 'timestamptz',
    'timestamp without time zone': 'timestamp',
    integer: 'int4',
    bigint: 'int8',
  };
  return `pg_catalog.${casts[type]}`;
}

/**
 * Makes `$n` text and values. Bounds are cast where they stand: without it PostgreSQL would guess the type from the
 * neighbourhood, and `$1 - interval '1 day'` makes an interval of `$1`. A bound used twice is one parameter.
 * @param startAt number of the first parameter, so that the text can stand inside other text
 */
export function renderSql(template: SqlTemplate, bounds: BoundValues, columnType: ColumnType, startAt = 1): SqlText {
  const values: unknown[] = [];
  const numbers = new Map<BoundName, number>();
  const place = (param: BoundMarker | Scalar): string => {
    if (!isBound(param)) return `$${startAt - 1 + values.push(param)}`;
    const name = param.backfillBound;
    const number = numbers.get(name) ?? startAt - 1 + values.push(bounds[name]);
    numbers.set(name, number);
    return `$${number}::${castOfBound(name, columnType)}`;
  };
  return { text: joinTemplate(template, place), values };
}

/**
 * The same with its values in the text.
 * @param literal a value as SQL, without a type
 */
export function inlineSql(
  template: SqlTemplate,
  bounds: BoundValues,
  columnType: ColumnType,
  literal: (value: Scalar) => string,
): string {
  return joinTemplate(template, (param) => {
    if (!isBound(param)) return literal(param);
    const { backfillBound: name } = param;
    return `${literal(bounds[name])}::${castOfBound(name, columnType)}`;
  });
}

/** The template as people and digests see it: bounds by name (`:start`), other values as literals. */
export function printSql(template: SqlTemplate): string {
  return joinTemplate(template, (param) => (isBound(param) ? `:${param.backfillBound}` : printScalar(param)));
}

/** SQL as a person would have written it at the margin: the indentation of the source file is taken away. */
export function dedent(text: string): string {
  const lines = text
    .replace(/^\s*\n/, '')
    .trimEnd()
    .split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  // A text that begins on the line of its backtick says nothing about the margin there.
  const startsAtMargin = indents[0] === 0 && !text.startsWith('\n') && indents.length > 1;
  const margin = Math.min(...(startsAtMargin ? indents.slice(1) : indents));
  return lines.map((line) => (line.length - line.trimStart().length >= margin ? line.slice(margin) : line)).join('\n');
}

export function isBound(value: unknown): value is BoundMarker {
  return typeof value === 'object' && value !== null && 'backfillBound' in value;
}

function joinTemplate({ strings, params }: SqlTemplate, place: (param: BoundMarker | Scalar) => string): string {
  return strings.map((text, i) => (i < params.length ? text + place(params[i] ?? null) : text)).join('');
}

function printScalar(value: Scalar): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') {
    return String(value);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `'${text.replaceAll("'", "''")}'`;
}

function castOfBound(name: BoundName, columnType: ColumnType): string {
  switch (name) {
    case 'start':
    case 'end':
      return 'pg_catalog.timestamptz';
    case 'startDate':
    case 'endDate':
      return 'pg_catalog.date';
    case 'startValue':
    case 'endValue':
      return castOf(columnType);
    case 'key':
      return 'pg_catalog.text';
    default:
      return name satisfies never;
  }
}
