import { arrayText, scalarText } from '../text-form.js';
import { jsonText } from './json-text.js';

/** A column, and its type as PostgreSQL prints it; of a domain, the type at the bottom of it. */
export interface ColumnKind {
  readonly name: string;
  readonly type: string;
}

/**
 * A field of a row as the text that PostgreSQL reads as the column's type; null for null. What would come out as
 * something else without a word is refused.
 * @throws {TypeError} no text would mean the same
 */
export function fieldText(value: unknown, column: ColumnKind): string | null {
  if (value === null) return null;
  if (value === undefined) throw new TypeError(`${column.name} is missing; give null where there is no value`);
  if (typeof value === 'string') return wellFormed(value, column);
  if (typeof value === 'bigint' || typeof value === 'boolean') return scalarText(value);
  if (typeof value === 'number') return numberText(value, column);
  if (value instanceof Date) return instantText(value, column);
  if (value instanceof Uint8Array) return bytesText(value, column);
  if (typeof value !== 'object') throw new TypeError(`${column.name} is a ${typeof value}`);
  if (column.type === 'json' || column.type === 'jsonb') return jsonText(value, column.name);
  if (Array.isArray(value)) return arrayText(value, (element) => fieldText(element, elementOf(column)));
  throw new TypeError(`${column.name} is an object, and a column of type ${column.type}; give its text`);
}

/** Half of a pair has no form in UTF-8: it would be sent as U+FFFD. */
function wellFormed(text: string, { name }: ColumnKind): string {
  if (!/\p{Surrogate}/u.test(text)) return text;
  throw new TypeError(`${name} has half of a surrogate pair, which is no character`);
}

const FLOATS: readonly string[] = ['double precision', 'real'];

/** A whole number beyond 2^53 has lost digits before it came here; a float has as many as it ever had. */
function numberText(value: number, { name, type }: ColumnKind): string {
  if (FLOATS.includes(type)) return Object.is(value, -0) ? '-0' : scalarText(value);
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return scalarText(value);
  throw new TypeError(`${name} is ${value}, a whole number that JavaScript rounds; give a bigint, or text`);
}

function bytesText(value: Uint8Array, { name, type }: ColumnKind): string {
  if (type === 'bytea') return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
  throw new TypeError(`${name} is bytes, and a column of type ${type}; give its text`);
}

/** A date of JavaScript is an instant: which day it is depends on where one stands. */
function instantText(value: Date, { name, type }: ColumnKind): string {
  if (!type.startsWith('timestamp') || type.endsWith('without time zone')) {
    throw new TypeError(`${name} is a Date, and a column of type ${type}; give text, such as "2026-03-01"`);
  }
  if (Number.isNaN(value.getTime())) throw new TypeError(`${name} is an invalid Date`);
  // `+012024-…` and `-000043-…` are JavaScript's alone; its year 0 is 1 BC.
  const [, year = '', rest = ''] = /^([+-]?\d+)-(.*)$/.exec(value.toISOString()) ?? [];
  const ofEra = Number(year) > 0 ? Number(year) : 1 - Number(year);
  return `${String(ofEra).padStart(4, '0')}-${rest}${Number(year) > 0 ? '' : ' BC'}`;
}

function elementOf({ name, type }: ColumnKind): ColumnKind {
  return { name, type: type.replace(/\[\]$/, '') };
}
