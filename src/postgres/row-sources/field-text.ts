import { arrayText, scalarText } from '../text-form.js';

/** A column, and its type as PostgreSQL prints it; of a domain, the type below. */
export interface ColumnKind {
  readonly name: string;
  readonly type: string;
}

/**
 * A field of a row as the text that PostgreSQL reads as the column's type; null for null.
 * @throws {TypeError} no text would mean the same
 */
export function fieldText(value: unknown, column: ColumnKind): string | null {
  if (value === null) return null;
  if (value === undefined) throw new TypeError(`${column.name} is missing; give null where there is no value`);
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return scalarText(value);
  if (typeof value === 'number') return numberText(value, column);
  if (value instanceof Date) return instantText(value, column);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (typeof value !== 'object') throw new TypeError(`${column.name} is a ${typeof value}`);
  if (column.type === 'json' || column.type === 'jsonb') return JSON.stringify(value);
  if (Array.isArray(value)) return arrayText(value, (element) => fieldText(element, elementOf(column)));
  throw new TypeError(`${column.name} is an object, and a column of type ${column.type}; give its text`);
}

/** A whole number beyond 2^53 has lost digits before it came here. */
function numberText(value: number, { name }: ColumnKind): string {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return scalarText(value);
  throw new TypeError(`${name} is ${BigInt(value)}, which JavaScript rounds; give a bigint, or text`);
}

/** A date of JavaScript is an instant: which day it is depends on where one stands. */
function instantText(value: Date, { name, type }: ColumnKind): string {
  if (!type.startsWith('timestamp') || type.endsWith('without time zone')) {
    throw new TypeError(`${name} is a Date, and a column of type ${type}; give text, such as "2026-03-01"`);
  }
  if (Number.isNaN(value.getTime())) throw new TypeError(`${name} is an invalid Date`);
  return value.toISOString();
}

function elementOf({ name, type }: ColumnKind): ColumnKind {
  return { name, type: type.replace(/\[\]$/, '') };
}
