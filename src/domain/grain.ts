import { Temporal } from 'temporal-polyfill';

/** The length of one partition. A new grain is one more entry of {@link grains}. */
export type Grain = 'day';

/** Half-open `[start, end)`, both instants. */
export interface Bounds {
  readonly start: Temporal.Instant;
  readonly end: Temporal.Instant;
}

/**
 * What there is to know of a grain. Two functions are enough to list any range: the key of the partition that holds an
 * instant, and the bounds of a key. Both speak of instants, not of local times, because a local time may come twice
 * (hours in autumn) or never (a whole day: Apia has no 2011-12-30).
 */
export interface GrainRule {
  /** The form of a key, as shown to people. */
  readonly form: string;
  /** Undefined where the text is no key. A key that never was has bounds of length zero. */
  bounds(key: string, timeZone: string): Bounds | undefined;
  keyAt(instant: Temporal.Instant, timeZone: string): string;
  /** The key that a mistyped one most likely means. */
  closest(text: string): string | undefined;
}

export const grains = {
  day: {
    form: 'YYYY-MM-DD',
    bounds(key, timeZone) {
      const day = parseDate(key);
      return day && { start: startOfDay(day, timeZone), end: startOfDay(day.add({ days: 1 }), timeZone) };
    },
    keyAt: (instant, timeZone) => instant.toZonedDateTimeISO(timeZone).toPlainDate().toString(),
    closest: closestDate,
  },
} satisfies Record<Grain, GrainRule>;

/** The first moment of a local day: not always midnight, which may not exist (Havana, São Paulo) or may come twice. */
function startOfDay(day: Temporal.PlainDate, timeZone: string): Temporal.Instant {
  return day.toZonedDateTime({ timeZone }).toInstant();
}

/** Strict on purpose: `new Date('2024-02-30')` is 1 March without a complaint. */
function parseDate(text: string): Temporal.PlainDate | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined || year === '0000') return undefined;
  try {
    return Temporal.PlainDate.from(
      { year: Number(year), month: Number(month), day: Number(day) },
      { overflow: 'reject' },
    );
  } catch {
    return undefined;
  }
}

/** `2026-3-1`, `2026/03/01`, `20260301` are 2026-03-01; the last day of a month stands for those it does not have. */
function closestDate(text: string): string | undefined {
  const [, year, month, day] = /^\s*(\d{4})\D?(\d{1,2})\D?(\d{1,2})(?:[T ].*|\s*)$/.exec(text) ?? [];
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31) return undefined;
  if (year === undefined || year === '0000') return undefined;
  return Temporal.PlainDate.from({ year: Number(year), month: Number(month), day: Number(day) }).toString();
}
