import type { Sql } from 'sql-template-tag';
import type { CheckArguments } from './arguments.js';

/** A check as a definition gives it. Make one with the functions of this file. */
export type CheckInput =
  | { readonly kind: 'notNull'; readonly name: string; readonly columns: readonly string[] }
  | { readonly kind: 'unique'; readonly name: string; readonly columns: readonly string[] }
  | { readonly kind: 'rowCount'; readonly name: string; readonly min?: number; readonly max?: number }
  | { readonly kind: 'everyRow'; readonly name: string; readonly condition: string }
  | { readonly kind: 'noRows'; readonly name: string; readonly query: (given: CheckArguments) => Sql };

/** None of these columns is null in any new row. */
export function notNull(columns: readonly string[]): CheckInput {
  return { kind: 'notNull', name: `not null: ${columns.join(', ')}`, columns };
}

/** No two new rows agree in all of these columns. Nulls count as equal. */
export function unique(columns: readonly string[]): CheckInput {
  return { kind: 'unique', name: `unique: ${columns.join(', ')}`, columns };
}

/** The number of new rows lies between `min` and `max`, both included. */
export function rowCount(limits: { readonly min?: number; readonly max?: number }): CheckInput {
  return { kind: 'rowCount', name: `row count: ${limits.min ?? 0}..${limits.max ?? ''}`, ...limits };
}

/** A condition in SQL that every new row meets; null counts as not met. */
export function everyRow(condition: string, name = `every row: ${condition}`): CheckInput {
  return { kind: 'everyRow', name, condition };
}

/** A query that finds what is wrong: it must return no row. */
export function noRows(name: string, query: (given: CheckArguments) => Sql): CheckInput {
  return { kind: 'noRows', name, query };
}
