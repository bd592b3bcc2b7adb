import { Temporal } from 'temporal-polyfill';
import { type Grain, type GrainRule, grains } from './grain.js';
import { InvalidRequest } from './failure.js';

/** How a table is cut into partitions. `timeZone` is an IANA name. */
export interface Partitioning {
  readonly column: string;
  readonly grain: Grain;
  readonly timeZone: string;
}

/** One partition: its key, and its bounds as half-open `[start, end)` instants and as local dates. */
export interface Partition {
  readonly key: string;
  /** ISO 8601 with `Z`, for example `2024-03-10T05:00:00Z`. */
  readonly start: string;
  readonly end: string;
  /** ISO local dates in the table's time zone; `endDate` is the first date that is not in the partition. */
  readonly startDate: string;
  readonly endDate: string;
}

/**
 * The partitions of a range, oldest first. `from` and `to` are keys, both included. A local day that never was is not
 * in the list.
 * @throws {InvalidRequest} a bound is no key of the table's grain, `to` is before `from`, or more than `most` partitions
 */
export function listPartitions(partitioning: Partitioning, from: string, to: string, most = Infinity): Partition[] {
  const start = boundsOf(partitioning, from, 'request.from').start;
  const end = boundsOf(partitioning, to, 'request.to').end;
  if (Temporal.Instant.compare(end, start) < 0 || from > to) {
    throw new InvalidRequest(`Range end ${to} is before its start ${from} (request.to); both ends are included`);
  }
  const partitions: Partition[] = [];
  for (let at = start; Temporal.Instant.compare(at, end) < 0;) {
    const partition = partitionAt(partitioning, at);
    if (partitions.push(partition.partition) > most) {
      throw new InvalidRequest(`The range ${from} to ${to} has more than ${most} partitions (request.to)`);
    }
    at = partition.end;
  }
  return partitions;
}

/**
 * The partition of one key.
 * @throws {InvalidRequest} the text is no key of the table's grain, or a local day that never was
 */
export function partitionOf(partitioning: Partitioning, key: string, field = 'key'): Partition {
  const { start, end } = boundsOf(partitioning, key, field);
  if (start.equals(end)) {
    throw new InvalidRequest(`${quote(key)} does not exist in ${partitioning.timeZone} (${field})`);
  }
  return describe(partitioning, key, start, end);
}

/** A range as half-open instants, ISO 8601. Both keys are included. */
export function spanOf(partitioning: Partitioning, from: string, to: string): { start: string; end: string } {
  const { start } = boundsOf(partitioning, from, 'request.from');
  const { end } = boundsOf(partitioning, to, 'request.to');
  return { start: start.toString(), end: end.toString() };
}

/** Whether the partition has ended at `now`; `future` where it has not begun. */
export function completeness(partition: Partition, now: Date): 'complete' | 'unfinished' | 'future' {
  if (Date.parse(partition.end) <= now.getTime()) return 'complete';
  return Date.parse(partition.start) > now.getTime() ? 'future' : 'unfinished';
}

/** The partition that holds an instant, or the first moment of a local date. Undefined where the text is neither. */
export function partitionHolding(partitioning: Partitioning, at: string): Partition | undefined {
  try {
    const { timeZone } = partitioning;
    const instant = at.includes('T')
      ? Temporal.Instant.from(at)
      : Temporal.PlainDate.from(at).toZonedDateTime({ timeZone }).toInstant();
    return partitionAt(partitioning, instant).partition;
  } catch {
    return undefined;
  }
}

/** Seconds east of Greenwich at a moment, in milliseconds since 1970. */
export function utcOffsetSeconds(timeZone: string, atMs: number): number {
  return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1e9;
}

export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

function partitionAt(partitioning: Partitioning, at: Temporal.Instant) {
  const key = ruleOf(partitioning).keyAt(at, partitioning.timeZone);
  const { start, end } = boundsOf(partitioning, key, 'key');
  return { partition: describe(partitioning, key, start, end), end };
}

/** Further on, years have more than four digits, and texts no longer sort as time does. */
const LAST_END = Temporal.Instant.from('9999-12-31T00:00Z');

function describe({ timeZone }: Partitioning, key: string, start: Temporal.Instant, end: Temporal.Instant): Partition {
  const localDate = (instant: Temporal.Instant) => instant.toZonedDateTimeISO(timeZone).toPlainDate().toString();
  return {
    key,
    start: start.toString(),
    end: end.toString(),
    startDate: localDate(start),
    endDate: localDate(end),
  };
}

function boundsOf(partitioning: Partitioning, key: unknown, field: string) {
  const rule = ruleOf(partitioning);
  const bounds = typeof key === 'string' ? rule.bounds(key, partitioning.timeZone) : undefined;
  if (!bounds) throw new InvalidRequest(notAKey(partitioning, key, field));
  if (Temporal.Instant.compare(bounds.end, LAST_END) > 0) {
    throw new InvalidRequest(`${quote(key)} is too late: partitions end in the year 9999 (${field})`);
  }
  return bounds;
}

function notAKey(partitioning: Partitioning, key: unknown, field: string): string {
  const rule = ruleOf(partitioning);
  const meant = typeof key === 'string' ? rule.closest(key) : undefined;
  const asking = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `${quote(key)} is not a ${partitioning.grain} as ${rule.form} (${field})${asking}`;
}

function ruleOf(partitioning: Partitioning): GrainRule {
  return grains[partitioning.grain];
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
