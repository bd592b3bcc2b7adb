/** The calendar by number: a day is counted from 1970-01-01. Years have four digits, 0001 to 9999. */

export const DAY_MS = 86_400_000;

/** A unit of the calendar that is made of whole days. Units are numbered without a gap. */
export interface CalendarUnit {
  /** The form of a key, as shown to people. */
  readonly form: string;
  numberAt(day: number): number;
  firstDay(number: number): number;
  print(number: number): string;
  /** Undefined where the text is no key. */
  parse(key: string): number | undefined;
}

export const day: CalendarUnit = {
  form: 'YYYY-MM-DD',
  numberAt: (at) => at,
  firstDay: (number) => number,
  print: printDate,
  parse: parseDate,
};

/** ISO 8601: weeks begin on Monday, and belong to the year of their Thursday. */
export const week: CalendarUnit = {
  form: 'YYYY-Www',
  // 1970-01-01 was a Thursday.
  numberAt: (at) => Math.floor((at + 3) / 7),
  firstDay: (number) => number * 7 - 3,
  print(number) {
    const { year } = partsOf(number * 7);
    const firstThursday = number * 7 - dayOf(year, 1, 1);
    return `${pad(year, 4)}-W${pad(Math.floor(firstThursday / 7) + 1, 2)}`;
  },
  parse(key) {
    const [, year, number] = digits(/^(\d{4})-W(\d{2})$/, key);
    if (year === undefined || number === undefined) return undefined;
    // 4 January is always in the first week.
    return itself(week, week.numberAt(dayOf(year, 1, 4)) + number - 1, key);
  },
};

export const month = ofMonths('YYYY-MM', 1, /^(\d{4})-(\d{2})$/, (year, number) => `${year}-${pad(number, 2)}`);
export const quarter = ofMonths('YYYY-Qn', 3, /^(\d{4})-Q(\d)$/, (year, number) => `${year}-Q${number}`);
export const year = ofMonths('YYYY', 12, /^(\d{4})$/, (year) => year);

function ofMonths(
  form: string,
  months: number,
  pattern: RegExp,
  printParts: (year: string, number: number) => string,
): CalendarUnit {
  const perYear = 12 / months;
  const unit: CalendarUnit = {
    form,
    numberAt(at) {
      const parts = partsOf(at);
      return Math.floor((parts.year * 12 + parts.month - 1) / months);
    },
    firstDay: (number) => dayOf(0, 1 + number * months, 1),
    print: (number) => printParts(pad(Math.floor(number / perYear), 4), (number % perYear) + 1),
    parse(key) {
      const [, ofYear, number = 1] = digits(pattern, key);
      return ofYear === undefined ? undefined : itself(unit, ofYear * perYear + number - 1, key);
    },
  };
  return unit;
}

/** The number of a key, if its key is that text: there is no week 53 in most years, and no year 0000. */
function itself(unit: CalendarUnit, number: number, key: string): number | undefined {
  return unit.print(number) === key && !key.startsWith('0000') ? number : undefined;
}

/** Strict on purpose: `new Date('2024-02-30')` is 1 March without a complaint. */
export function parseDate(text: string): number | undefined {
  const [, ofYear, ofMonth, date] = digits(/^(\d{4})-(\d{2})-(\d{2})$/, text);
  if (ofYear === undefined || ofMonth === undefined || date === undefined) return undefined;
  return itself(day, dayOf(ofYear, ofMonth, date), text);
}

export function printDate(at: number): string {
  const text = printed.get(at) ?? new Date(at * DAY_MS).toISOString().replace(/T.*/, '');
  if (printed.size >= MOST_PRINTED) printed.clear();
  printed.set(at, text);
  return text;
}

/** The hours of a day print it again and again; it is most of what listing 100,000 of them costs. */
const printed = new Map<number, string>();
const MOST_PRINTED = 100;

/**
 * `2024-03-10T05:00:00`, with something after it. Joined, because a text put together by `+` or a template keeps all its
 * pieces: 100,000 partitions took 120 MB.
 */
export function printTime(moment: number, end = ''): string {
  const at = Math.floor(moment / DAY_MS);
  const seconds = Math.floor((moment - at * DAY_MS) / 1000);
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return [printDate(at), 'T', pad(hour, 2), ':', pad(minute, 2), ':', pad(seconds % 60, 2), end].join('');
}

/** `2026-3-1`, `2026/03/01`, `20260301` are 2026-03-01; the last day of a month stands for those it does not have. */
export function closestDate(text: string): number | undefined {
  const [, ofYear, ofMonth, date] = digits(/^\s*(\d{4})\D?(\d{1,2})\D?(\d{1,2})(?:[T ].*|\s*)$/, text);
  if (!ofYear || !ofMonth || ofMonth > 12 || !date || date > 31) return undefined;
  return Math.min(dayOf(ofYear, ofMonth, date), dayOf(ofYear, ofMonth + 1, 0));
}

/** Months and dates beyond their end run over. `Date.UTC` takes the years 0 to 99 for those of the 20th century. */
export function dayOf(ofYear: number, ofMonth: number, date: number): number {
  return new Date(0).setUTCFullYear(ofYear, ofMonth - 1, date) / DAY_MS;
}

function partsOf(at: number): { year: number; month: number } {
  const date = new Date(at * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1 };
}

function digits(pattern: RegExp, text: string): (number | undefined)[] {
  return (pattern.exec(text) ?? []).map((part, i) => (i === 0 ? undefined : Number(part)));
}

function pad(number: number, length: number): string {
  return String(number).padStart(length, '0');
}
