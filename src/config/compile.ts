import { normalizeSql, tokenize } from '../domain/sql-lexer.js';
import {
  type BoundMarker,
  type RowsMarker,
  type Scalar,
  type SqlTemplate,
  NEW_ROWS,
  isBound,
  printSql,
} from '../domain/sql-template.js';
import type { Check } from '../domain/check.js';
import type { Definition, Timeouts } from '../domain/definition.js';
import { parseDuration } from '../domain/duration.js';
import { type TableName, parseTableName, printTableName } from '../domain/table-name.js';
import type { CheckInput } from './checks.js';
import type { BuildArguments } from './arguments.js';
import type { TableInput } from './define.js';
import { digest } from './digest.js';
import { ConfigError } from './errors.js';

const bound = (backfillBound: BoundMarker['backfillBound']): BoundMarker => ({ backfillBound });

const BOUNDS: BuildArguments = {
  start: bound('start'),
  end: bound('end'),
  startDate: bound('startDate'),
  endDate: bound('endDate'),
  startValue: bound('startValue'),
  endValue: bound('endValue'),
  key: bound('key'),
};

const ROWS: RowsMarker = { backfillRows: true };

/**
 * Turns a definition into what the worker runs. The build function is called once, with markers for the bounds: its text
 * is then the same for every partition, which is what makes a digest of it mean something.
 * @param where the place in the config file, for messages: `tables[0]`
 */
export function compileTable(input: TableInput, where: string): Definition {
  const table = nameOf(input.name, `${where}.name`);
  const compiled = {
    table,
    name: printTableName(table),
    description: input.description ?? null,
    owner: input.owner ?? null,
    partitioning: input.partitionBy,
    reads: (input.reads ?? []).map((name, i) => printTableName(nameOf(name, `${where}.reads[${i}]`))),
    build: template(input.build(BOUNDS), `${where}.build`),
    checks: (input.checks ?? []).map((check, i) => compileCheck(check, `${where}.checks[${i}]`)),
    cumulative: input.cumulative ?? false,
    strategy: input.strategy ?? 'delete-insert',
    whenEmpty: input.whenEmpty ?? 'fail',
    searchPath: input.searchPath ?? null,
    showValues: input.showValues ?? false,
    timeouts: compileTimeouts(input.timeouts ?? {}, `${where}.timeouts`),
  } as const;
  return { ...compiled, digest: definitionDigest(compiled) };
}

/** What the rows come from, for the build digest: the catalog's part (views, functions) is added when a plan is made. */
export function buildIdentity({ build, partitioning, searchPath }: Omit<Definition, 'digest'>) {
  return { build: normalizeSql(printSql(build)), partitioning, searchPath };
}

function definitionDigest(definition: Omit<Definition, 'digest'>): string {
  const { name, checks, cumulative, strategy, whenEmpty } = definition;
  const identities = checks.map((check) =>
    check.kind === 'noRows' ? { ...check, query: normalizeSql(printSql(check.query)) } : check,
  );
  return digest({ name, ...buildIdentity(definition), checks: identities, cumulative, strategy, whenEmpty });
}

function compileCheck(check: CheckInput, where: string): Check {
  switch (check.kind) {
    case 'rowCount':
      return { ...check, min: check.min ?? 0, max: check.max ?? null };
    case 'noRows':
      return { ...check, query: template(check.query({ ...BOUNDS, rows: ROWS }), `${where}.query`) };
    case 'notNull':
    case 'unique':
    case 'everyRow':
      return check;
    default:
      return check satisfies never;
  }
}

/** Flattens a tagged text. Read by its shape, not by its class: the config file may load another copy of the tag. */
function template(sql: unknown, where: string): SqlTemplate {
  const { strings, values } = (sql ?? {}) as { strings?: unknown; values?: unknown };
  if (!Array.isArray(strings) || !Array.isArray(values)) {
    throw new ConfigError(`${where} must return SQL made with the sql tag: sql\`select …\``);
  }
  const texts: string[] = [String(strings[0])];
  const params: (BoundMarker | Scalar)[] = [];
  values.forEach((value: unknown, i) => {
    const next = String(strings[i + 1]);
    if (isRows(value)) texts.push(`${texts.pop() ?? ''}${NEW_ROWS}${next}`);
    else {
      params.push(paramOf(value, where));
      texts.push(next);
    }
  });
  demandSeen(texts, where);
  return { strings: texts, params };
}

/** PostgreSQL does not see a parameter in a literal or a comment, and would say so in words about its protocol. */
function demandSeen(texts: readonly string[], where: string): void {
  const numbered = texts.map((text, i) => (i === 0 ? text : `$${i}${text}`)).join('');
  const seen = new Set(tokenize(numbered).map(({ text }) => text));
  const hidden = texts.findIndex((_, i) => i > 0 && !seen.has(`$${i}`));
  if (hidden < 0) return;
  throw new ConfigError(
    `${where}: the ${hidden}. value in ${'${…}'} stands inside a literal or a comment, where PostgreSQL does not see it; write it outside`,
  );
}

function isRows(value: unknown): value is RowsMarker {
  return typeof value === 'object' && value !== null && 'backfillRows' in value;
}

function paramOf(value: unknown, where: string): BoundMarker | Scalar {
  return isBound(value) ? value : scalarOf(value, where);
}

function scalarOf(value: unknown, where: string): Scalar {
  if (value === null) return value;
  if (Array.isArray(value)) return value.map((item) => scalarOf(item, where)) as Scalar;
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return value as Scalar;
  // A Date would be sent in the process's time zone and may become another day.
  const remedy = value instanceof Date ? 'write a date as text: "2026-03-01"' : 'use text, numbers, booleans or null';
  throw new ConfigError(`${where} holds a value that cannot be sent to PostgreSQL safely; ${remedy}`);
}

/** PostgreSQL's settings in milliseconds end here, a little under 25 days. */
const MOST_MS = 2 ** 31 - 1;

function compileTimeouts(input: NonNullable<TableInput['timeouts']>, where: string): Timeouts {
  const read = (name: keyof typeof input, byDefault: string, most = Infinity): number => {
    const text = input[name] ?? byDefault;
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= 1 && ms <= most) return ms;
    const limit = most === Infinity ? '' : ', at most 24 days';
    throw new ConfigError(
      `${where}.${name} is ${JSON.stringify(text)}; write a span as "30 s", "10 minutes", "6 hours"${limit}`,
    );
  };
  return {
    attemptMs: read('attempt', '1 hour', MOST_MS),
    partitionMs: read('partition', '6 hours'),
    lockMs: read('lock', '5 s', MOST_MS),
  };
}

function nameOf(text: string, where: string): TableName {
  const name = parseTableName(text);
  if (name) return name;
  throw new ConfigError(
    `${where} is ${JSON.stringify(text)}; write "schema.table", each part at most 63 bytes, quoted where SQL needs it`,
  );
}
