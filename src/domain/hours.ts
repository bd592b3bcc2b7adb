import { type ZoneClock, zoneClock } from './zone-clock.js';
import { DAY_MS, parseDate, printTime } from './calendar.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Half-open, milliseconds since 1970. */
interface Hour {
  readonly start: number;
  readonly end: number;
}

/**
 * The local hour that holds a moment, or several of them counted from midnight. An hour begins when clocks show it full,
 * and at each change of the clock: where they go back by half an hour (Lord Howe), two are shorter. Several hours keep
 * to the clock's face: from 00:00 to 06:00 there may be five or seven.
 */
export function hourAt(clock: ZoneClock, moment: number, every: number): Hour {
  const { from, until, offset } = clock.steadyTime(moment);
  const length = every * HOUR_MS;
  const local = Math.floor((moment + offset) / length) * length;
  if (every === 1) return { start: Math.max(local - offset, from), end: Math.min(local - offset + length, until) };
  let hour = { start: clock.firstMoment(local), end: clock.firstMoment(local + length) };
  // Clocks that went back show a time that is over.
  for (let next = local + length; hour.end <= moment; next += length) {
    hour = { start: hour.end, end: clock.firstMoment(next + length) };
  }
  return hour;
}

/**
 * Its first moment in UTC, so that the hours of a night that has one twice are told apart. In zones of whole hours
 * `2026-03-01T05Z`; where an offset has minutes, always with them, so that keys sort as text.
 */
export function hourKey(timeZone: string, start: number): string {
  const text = printTime(start);
  if (start % MINUTE_MS !== 0) return withZ(text);
  return withZ(text.slice(0, start % HOUR_MS !== 0 || hasMinutes(timeZone) ? 16 : 13));
}

/** Joined, see `printTime`. */
function withZ(text: string): string {
  return [text, 'Z'].join('');
}

/** The moment that an hour's key names; undefined where the text is none. */
export function parseHour(text: string): number | undefined {
  const [, date, hour, minute = '00', second = '00'] =
    /^(\d{4}-\d{2}-\d{2})T(\d{2})(?::(\d{2})(?::(\d{2}))?)?Z$/.exec(text) ?? [];
  const day = date === undefined ? undefined : parseDate(date);
  const time = Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS + Number(second) * 1000;
  return day !== undefined && time < DAY_MS && Number(minute) < 60 && Number(second) < 60
    ? day * DAY_MS + time
    : undefined;
}

const zonesWithMinutes = new Map<string, boolean>();
const [SINCE, UNTIL] = [Date.UTC(1970, 0, 1), Date.UTC(2026, 0, 1)];

/** By the past alone: a law of tomorrow must not change the keys of yesterday. */
function hasMinutes(timeZone: string): boolean {
  const known = zonesWithMinutes.get(timeZone);
  if (known !== undefined) return known;
  const clock = zoneClock(timeZone);
  let found = false;
  for (let time = clock.steadyTime(SINCE); !found; time = clock.steadyTime(time.until)) {
    found = time.offset % HOUR_MS !== 0;
    if (time.until >= UNTIL) break;
  }
  zonesWithMinutes.set(timeZone, found);
  return found;
}
