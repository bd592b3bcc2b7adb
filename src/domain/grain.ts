import * as calendar from './calendar.js';
import { DAY_MS } from './calendar.js';
import { hourAt, hourKey, parseHour } from './hours.js';
import { type ZoneClock, zoneClock } from './zone-clock.js';

/** What a partition is as long as, or a multiple of. */
export const grains = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Grain = (typeof grains)[number];

/** What the numbers of an integer column mean: `20260301`, or the time since 1970. */
export const numberForms = ['yyyymmdd', 'epoch-seconds', 'epoch-milliseconds'] as const;
export type NumberForm = (typeof numberForms)[number];

/** How a table is cut into partitions. */
export interface Partitioning {
  readonly column: string;
  readonly grain: Grain;
  /** An IANA name. It says when days and hours begin. */
  readonly timeZone: string;
  /** Partitions of so many grains. Default 1. Hours are counted anew each day: 2, 3, 4, 6, 8 or 12. */
  readonly every?: number;
  /** A date of one of the partitions, from which multiples are counted. Default 2000-01-03, a Monday. */
  readonly anchor?: string;
  /** What the numbers mean, where the column is an integer. */
  readonly as?: NumberForm;
}

/** One partition by number: half-open, as moments in milliseconds and as local days, both since 1970. */
export interface Slot {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly startDay: number;
  /** The first day that is not in it; of hours the day in which it ends. */
  readonly endDay: number;
}

const ANCHOR = '2000-01-03';

const units = {
  day: calendar.day,
  week: calendar.week,
  month: calendar.month,
  quarter: calendar.quarter,
  year: calendar.year,
} satisfies Record<Exclude<Grain, 'hour'>, calendar.CalendarUnit>;

/** The form of a key, as shown to people. */
export function formOf({ grain }: Partitioning): string {
  return grain === 'hour' ? 'YYYY-MM-DDThhZ, the moment at which it begins, in UTC' : units[grain].form;
}

/** `day`, `7 days` */
export function grainText({ grain, every = 1 }: Pick<Partitioning, 'grain' | 'every'>): string {
  return every === 1 ? grain : `${every} ${grain}s`;
}

/** The partition that holds a moment. */
export function slotAt(partitioning: Partitioning, moment: number): Slot {
  const clock = zoneClock(partitioning.timeZone);
  if (partitioning.grain === 'hour') return hourSlot(partitioning, hourAt(clock, moment, partitioning.every ?? 1));
  const day = dayAt(clock, moment);
  return blockOf(partitioning, units[partitioning.grain].numberAt(day));
}

/**
 * The partition of a key. Its length is zero where it is a local day that never was. With multiples, the key is that of
 * the first unit, and no other.
 */
export function slotOfKey(partitioning: Partitioning, key: string): Slot | undefined {
  const { grain } = partitioning;
  if (grain === 'hour') {
    const moment = parseHour(key);
    const slot = moment === undefined ? undefined : slotAt(partitioning, moment);
    return slot?.key === key ? slot : undefined;
  }
  const number = units[grain].parse(key);
  const slot = number === undefined ? undefined : blockOf(partitioning, number);
  return slot?.key === key ? slot : undefined;
}

/** A local date as a slot, whatever the grain is. */
export function slotOfDate({ column, timeZone }: Partitioning, text: string): Slot | undefined {
  return slotOfKey({ column, timeZone, grain: 'day' }, text);
}

/** The key that a mistyped one most likely means. */
export function closestKey(partitioning: Partitioning, text: string): string | undefined {
  const { grain, timeZone } = partitioning;
  if (grain === 'hour') {
    const moment = parseHour(text.trim().replace(' ', 'T').replace(/Z?$/, 'Z'));
    return moment === undefined ? undefined : slotAt(partitioning, moment).key;
  }
  const day = closestDay(grain, text);
  if (day === undefined) return undefined;
  const { start, end, key } = blockOf(partitioning, units[grain].numberAt(day));
  return start === end ? slotAt({ column: '', grain, timeZone }, end).key : key;
}

function closestDay(grain: Exclude<Grain, 'hour'>, text: string): number | undefined {
  if (grain === 'day') return calendar.closestDate(text);
  const [, year, letter = '', number] = /^\s*(\d{4})[-/. ]?([QW]?)(\d{1,2})\s*$/i.exec(text) ?? [];
  const isOfGrain = letter.toUpperCase() === { week: 'W', month: '', quarter: 'Q', year: '-' }[grain];
  if (!isOfGrain || year === undefined || number === undefined) return calendar.closestDate(text);
  const mark = letter.toUpperCase();
  const ofYear = units[grain].parse(`${year}-${mark}${grain === 'quarter' ? number : number.padStart(2, '0')}`);
  return ofYear === undefined ? undefined : units[grain].firstDay(ofYear);
}

/** The local day of a moment. Where clocks go back over midnight, the day began at the first, and does not end again. */
function dayAt(clock: ZoneClock, moment: number): number {
  const day = localDay(clock, moment);
  return clock.firstMoment((day + 1) * DAY_MS) <= moment ? day + 1 : day;
}

/** The partition that holds a unit of the calendar. */
function blockOf(partitioning: Partitioning, number: number): Slot {
  const { timeZone, grain, every = 1 } = partitioning;
  if (grain === 'hour') throw new Error('Hours are not units of the calendar');
  const unit = units[grain];
  const first = every === 1 ? number : firstOfBlock(unit, number, partitioning);
  const clock = zoneClock(timeZone);
  const startDay = unit.firstDay(first);
  const start = clock.firstMoment(startDay * DAY_MS);
  const end = clock.firstMoment(unit.firstDay(first + every) * DAY_MS);
  // Not the unit's own end: behind it there may be a day that never was.
  return { key: unit.print(first), start, end, startDay, endDay: localDay(clock, end) };
}

function firstOfBlock(unit: calendar.CalendarUnit, number: number, { every = 1, anchor = ANCHOR }: Partitioning) {
  const from = unit.numberAt(calendar.parseDate(anchor) ?? 0);
  return from + Math.floor((number - from) / every) * every;
}

function hourSlot({ timeZone }: Partitioning, { start, end }: { start: number; end: number }): Slot {
  const clock = zoneClock(timeZone);
  return { key: hourKey(timeZone, start), start, end, startDay: localDay(clock, start), endDay: localDay(clock, end) };
}

function localDay(clock: ZoneClock, moment: number): number {
  return Math.floor((moment + clock.offsetAt(moment)) / DAY_MS);
}
