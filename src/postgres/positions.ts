import { dayOf, printDate, printTime } from '../domain/calendar.js';
import type { Partition } from '../domain/range.js';
import type { ColumnType } from '../domain/sql-template.js';

/*
 * Where bounds lie, as text of one form for a column: dates as `2024-03-10`, instants as `2024-03-10T05:00:00Z`, times
 * without a zone as `2024-03-10T00:00:00`, and -infinity and infinity. Numbers become what they mean.
 */

export type IntegerType = Extract<ColumnType, `${string} as ${string}`>;

export function isInteger(columnType: ColumnType): columnType is IntegerType {
  return columnType.includes(' as ');
}

/** A partition's bounds in the form in which leaves have theirs. */
export function positionsOf(
  { start, end, startDate, endDate, startLocal, endLocal }: Partition,
  columnType: ColumnType,
): { readonly lower: string; readonly upper: string } {
  if (columnType === 'date' || columnType.endsWith('yyyymmdd')) return { lower: startDate, upper: endDate };
  return columnType === 'timestamp without time zone'
    ? { lower: startLocal, upper: endLocal }
    : { lower: start, upper: end };
}

/** What a number means, in the same form. Numbers that are no date mean the next one: a month may end at 20260332. */
export function positionOfNumber(bound: string, columnType: IntegerType): string {
  const number = Number(bound);
  if (!Number.isFinite(number)) return bound;
  if (columnType.endsWith('yyyymmdd')) return dateFrom(number);
  const moment = columnType.endsWith('milliseconds') ? number : number * 1000;
  if (Math.abs(moment) > 8.64e15) return moment < 0 ? '-infinity' : 'infinity';
  const fraction = moment % 1000 === 0 ? '' : `.${String(((moment % 1000) + 1000) % 1000).padStart(3, '0')}`;
  return `${printTime(moment)}${fraction}Z`;
}

function dateFrom(number: number): string {
  const [year, month, date] = [Math.floor(number / 10_000), Math.floor(number / 100) % 100, number % 100];
  if (year < 1 || year > 9999) return year < 1 ? '-infinity' : 'infinity';
  if (month < 1) return printDate(dayOf(year, 1, 1));
  if (month > 12) return printDate(dayOf(year + 1, 1, 1));
  return printDate(Math.min(dayOf(year, month, Math.max(date, 1)), dayOf(year, month + 1, 1)));
}

export function isBefore(a: string, b: string): boolean {
  return timeOf(a) < timeOf(b);
}

/** Milliseconds since 1970, with a fraction. */
export function timeOf(position: string): number {
  if (position === 'infinity') return Infinity;
  if (position === '-infinity') return -Infinity;
  const fraction = position.length > 20 ? Number(`0${position.slice(19).replace('Z', '')}`) : 0;
  return Date.parse(position.length === 10 ? position : `${position.slice(0, 19)}Z`) + fraction * 1000;
}
