import { tokenize } from '../domain/sql-lexer.js';
import {
  type BoundMarker,
  type RowsMarker,
  type Scalar,
  type SqlTemplate,
  NEW_ROWS,
  isBound,
} from '../domain/sql-template.js';
import type { BuildArguments } from './arguments.js';
import { ConfigError } from './errors.js';

const bound = (backfillBound: BoundMarker['backfillBound']): BoundMarker => ({ backfillBound });

/** What stands for the bounds while a text is compiled. */
export const BOUNDS: BuildArguments = {
  start: bound('start'),
  end: bound('end'),
  startDate: bound('startDate'),
  endDate: bound('endDate'),
  startValue: bound('startValue'),
  endValue: bound('endValue'),
  key: bound('key'),
};

export const ROWS: RowsMarker = { backfillRows: true };

/** Flattens a tagged text. Read by its shape, not by its class: the config file may load another copy of the tag. */
export function template(sql: unknown, where: string): SqlTemplate {
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
