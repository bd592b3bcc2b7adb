import { DAY_MS, printDate, printTime } from './calendar.js';
import { InvalidRequest } from './failure.js';
import { type Partitioning, type Slot, closestKey, formOf, grainText, slotAt, slotOfDate, slotOfKey } from './grain.js';
import { zoneClock } from './zone-clock.js';

/** One partition: its key, and its bounds as half-open `[start, end)` instants and as local dates and times. */
export interface Partition {
  readonly key: string;
  /** ISO 8601 with `Z`, for example `2024-03-10T05:00:00Z`. */
  readonly start: string;
  readonly end: string;
  /** ISO local dates in the table's time zone; `endDate` is the first date that is not in the partition. */
  readonly startDate: string;
  readonly endDate: string;
  /** What clocks show: `2024-03-10T00:00:00`. Of days and longer, midnight, also where there was none. */
  readonly startLocal: string;
  readonly endLocal: string;
}

/** A range by whole partitions. */
export interface Range {
  /** Keys, both included. */
  readonly from: string;
  readonly to: string;
  /** Oldest first. A local day that never was is not in the list. */
  readonly partitions: readonly Partition[];
  /** What was asked for, where it was less; null where it was whole partitions. */
  readonly widened: string | null;
}

export interface RangeRequest {
  /** Keys, both included; or local dates, of which `to` is included as a whole. */
  readonly from: string;
  readonly to: string;
  /** Takes partitions whole that the range cuts. */
  readonly widen?: boolean;
}

/**
 * @throws {InvalidRequest} a bound is no key of the table's grain nor a date, `to` is before `from`, a bound cuts into a
 * partition, or there are more than `most` partitions
 */
export function resolveRange(partitioning: Partitioning, request: RangeRequest, most = Infinity): Range {
  const { from, to } = request;
  const [first, last] = [endOf(partitioning, from, 'request.from'), endOf(partitioning, to, 'request.to')];
  if (last.end < first.start || last.start < first.start || last.startDay < first.startDay) {
    throw new InvalidRequest(`Range end ${to} is before its start ${from} (request.to); both ends are included`);
  }
  const slots = listSlots(partitioning, first.start, last.end, most);
  if (!slots) throw new InvalidRequest(`The range ${from} to ${to} has more than ${most} partitions (request.to)`);
  const whole = {
    from: first.isKey ? from : (slots[0]?.key ?? from),
    to: last.isKey ? to : (slots.at(-1)?.key ?? to),
  };
  const cuts = [
    ...cutBy(slots[0], first.start, `${from} begins within`, 'request.from'),
    ...cutBy(slots.at(-1), last.end, `${to} ends within`, 'request.to'),
  ];
  if (cuts.length > 0 && !request.widen) {
    const remedy = `widen the range to ${whole.from} to ${whole.to}, or set request.widen`;
    throw new InvalidRequest(`${cuts.join('; ')}. A partition is written as a whole: ${remedy}`);
  }
  const widened = cuts.length === 0 ? null : `${from} to ${to} widened to ${whole.from} to ${whole.to}`;
  return { ...whole, widened, partitions: slots.map(describe(partitioning)) };
}

/** The partitions of a range, see {@link resolveRange}. */
export function listPartitions(partitioning: Partitioning, from: string, to: string, most = Infinity): Partition[] {
  return [...resolveRange(partitioning, { from, to }, most).partitions];
}

/**
 * The partition of one key.
 * @throws {InvalidRequest} the text is no key of the table's grain, or a local day that never was
 */
export function partitionOf(partitioning: Partitioning, key: string, field = 'key'): Partition {
  const slot = typeof key === 'string' ? slotOfKey(partitioning, key) : undefined;
  if (!slot) throw new InvalidRequest(notAKey(partitioning, key, field));
  if (slot.start === slot.end) {
    throw new InvalidRequest(`${quote(key)} does not exist in ${partitioning.timeZone} (${field})`);
  }
  return describe(partitioning)(slot);
}

/** A range as half-open instants, ISO 8601. Both keys are included. */
export function spanOf(partitioning: Partitioning, from: string, to: string): { start: string; end: string } {
  const { start } = endOf(partitioning, from, 'request.from');
  const { end } = endOf(partitioning, to, 'request.to');
  return { start: printInstant(start), end: printInstant(end) };
}

/** Whether the partition has ended at `now`; `future` where it has not begun. */
export function completeness(partition: Partition, now: Date): 'complete' | 'unfinished' | 'future' {
  if (Date.parse(partition.end) <= now.getTime()) return 'complete';
  return Date.parse(partition.start) > now.getTime() ? 'future' : 'unfinished';
}

/** The partition that holds an instant, a local time, or the first moment of a local date. Undefined for other texts. */
export function partitionHolding(partitioning: Partitioning, at: string): Partition | undefined {
  const isInstant = at.endsWith('Z');
  const time = Date.parse(isInstant || !at.includes('T') ? at : `${at}Z`);
  if (Number.isNaN(time)) return undefined;
  const moment = isInstant ? time : zoneClock(partitioning.timeZone).firstMoment(time);
  return describe(partitioning)(slotAt(partitioning, moment));
}

/** Seconds east of Greenwich at a moment, in milliseconds since 1970. */
export function utcOffsetSeconds(timeZone: string, atMs: number): number {
  return zoneClock(timeZone).offsetAt(atMs) / 1000;
}

export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    zoneClock(name).offsetAt(0);
    return true;
  } catch {
    return false;
  }
}

/** Undefined where there are more than `most`. The end of one is the start of the next: no gap, and no overlap. */
function listSlots(partitioning: Partitioning, start: number, end: number, most: number): Slot[] | undefined {
  const slots: Slot[] = [];
  for (let at = start; at < end;) {
    const slot = slotAt(partitioning, at);
    if (slots.push(slot) > most) return undefined;
    at = slot.end;
  }
  return slots;
}

/** Further on, years have more than four digits, and texts no longer sort as time does. */
const LAST_END = Date.UTC(9999, 11, 31);

/** One end of a range: a key, one of the units of a multiple, or a date. */
function endOf(partitioning: Partitioning, text: unknown, field: string): Slot & { readonly isKey: boolean } {
  const { column, timeZone, grain } = partitioning;
  const key = typeof text === 'string' ? slotOfKey(partitioning, text) : undefined;
  if (key && key.end > LAST_END) {
    throw new InvalidRequest(`${quote(text)} is too late: partitions end in the year 9999 (${field})`);
  }
  if (key) return { ...key, isKey: true };
  const part =
    typeof text === 'string'
      ? (slotOfKey({ column, timeZone, grain }, text) ?? slotOfDate(partitioning, text))
      : undefined;
  if (!part) throw new InvalidRequest(notAKey(partitioning, text, field));
  return { ...part, isKey: false };
}

function cutBy(slot: Slot | undefined, at: number, what: string, field: string): string[] {
  if (!slot || slot.start === at || slot.end === at) return [];
  const isOfDays = !slot.key.includes('T');
  const bounds = isOfDays
    ? `${printDate(slot.startDay)}, ${printDate(slot.endDay)}`
    : `${printInstant(slot.start)}, ${printInstant(slot.end)}`;
  return [`${what} ${slot.key}, which is [${bounds}) (${field})`];
}

function describe({ timeZone, grain }: Partitioning): (slot: Slot) => Partition {
  const clock = zoneClock(timeZone);
  const textsOf = (moment: number, day: number) => ({
    moment,
    day,
    instant: printInstant(moment),
    date: printDate(day),
    local: printTime(grain === 'hour' ? moment + clock.offsetAt(moment) : day * DAY_MS),
  });
  let last = textsOf(0, 0);
  // The end of a partition is the start of the next: one text is enough for both.
  const bound = (moment: number, day: number) => {
    if (last.moment !== moment || last.day !== day) last = textsOf(moment, day);
    return last;
  };
  return ({ key, ...slot }) => {
    const start = bound(slot.start, slot.startDay);
    const end = bound(slot.end, slot.endDay);
    return {
      key,
      start: start.instant,
      end: end.instant,
      startDate: start.date,
      endDate: end.date,
      startLocal: start.local,
      endLocal: end.local,
    };
  };
}

function printInstant(moment: number): string {
  return printTime(moment, 'Z');
}

function notAKey(partitioning: Partitioning, key: unknown, field: string): string {
  const { grain, every = 1 } = partitioning;
  const meant = typeof key === 'string' ? closestKey(partitioning, key) : undefined;
  const asking = meant === undefined ? '' : `; did you mean ${meant}?`;
  const what =
    every === 1 ? `${grain === 'hour' ? 'an' : 'a'} ${grain}` : `the first ${grain} of ${grainText(partitioning)}`;
  return `${quote(key)} is not ${what} as ${formOf(partitioning)} (${field})${asking}`;
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
