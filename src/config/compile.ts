import { normalizeSql } from '../domain/sql-lexer.js';
import { printSql } from '../domain/sql-template.js';
import type { Check } from '../domain/check.js';
import type { Definition, Timeouts } from '../domain/definition.js';
import { parseDuration } from '../domain/duration.js';
import type { KeepReplaced } from '../domain/keep.js';
import { parseSize } from '../domain/size.js';
import { type TableName, parseTableName, printTableName } from '../domain/table-name.js';
import type { CheckInput } from './checks.js';
import type { TableInput } from './define.js';
import { digest } from './digest.js';
import { ConfigError } from './errors.js';
import { compileOrigin } from './origin.js';
import { BOUNDS, ROWS, template } from './template.js';

/**
 * Turns a definition into what the worker runs. A build function is called once, with markers for the bounds: its text
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
    origin: compileOrigin(input, where),
    reports: (input.reports ?? []).map(({ name, owner = null, url = null }) => ({ name, owner, url })),
    checks: (input.checks ?? []).map((check, i) => compileCheck(check, `${where}.checks[${i}]`)),
    cumulative: input.cumulative ?? false,
    strategy: input.strategy ?? 'delete-insert',
    whenEmpty: input.whenEmpty ?? 'fail',
    searchPath: input.searchPath ?? null,
    showValues: input.showValues ?? false,
    timeouts: compileTimeouts(input.timeouts ?? {}, `${where}.timeouts`),
    keep: compileKeep(input, where),
  } as const;
  return { ...compiled, digest: definitionDigest(compiled) };
}

/** What the rows come from, for the build digest: the catalog's part (views, functions) is added when a plan is made. */
export function buildIdentity({ origin, partitioning, searchPath }: Omit<Definition, 'digest'>) {
  if (origin.kind === 'code') return { version: origin.version, columns: origin.columns, partitioning };
  const { build, source } = origin;
  return { build: normalizeSql(printSql(build)), partitioning, searchPath, ...(source === null ? {} : { source }) };
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

function compileKeep({ keepReplaced = '7 days', keepReplacedAtMost = '10 GB' }: TableInput, where: string) {
  const forMs = keepReplaced.trim() === '0' ? 0 : parseDuration(keepReplaced);
  if (forMs === undefined) {
    throw new ConfigError(
      `${where}.keepReplaced is ${JSON.stringify(keepReplaced)}; write a span as "7 days", "36 hours", or "0" to keep nothing`,
    );
  }
  const atMostBytes = parseSize(keepReplacedAtMost);
  if (atMostBytes === undefined) {
    throw new ConfigError(
      `${where}.keepReplacedAtMost is ${JSON.stringify(keepReplacedAtMost)}; write a size as "500 MB", "10 GB"`,
    );
  }
  return forMs === 0 ? null : ({ forMs, atMostBytes } satisfies KeepReplaced);
}

function nameOf(text: string, where: string): TableName {
  const name = parseTableName(text);
  if (name) return name;
  throw new ConfigError(
    `${where} is ${JSON.stringify(text)}; write "schema.table", each part at most 63 bytes, quoted where SQL needs it`,
  );
}
