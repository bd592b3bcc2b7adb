/** How many partitions of how many rows. */
export interface Scenario {
  /** `90x10000`; with `h` before the `x` the partitions are hours: `8784hx1`. */
  readonly name: string;
  readonly grain: 'day' | 'hour';
  readonly count: number;
  readonly rows: number;
}

export const DEFAULT_SCENARIOS = ['14x10000', '90x10000', '365x10000', '30x200000', '8784hx1'];
export const DEFAULT_CONCURRENCY = [1, 2, 4, 16];

/** @throws {Error} the text is no scenario */
export function parseScenario(name: string): Scenario {
  const [, count, hours, rows] = /^([1-9]\d{0,5})(h?)x([1-9]\d{0,7})$/.exec(name) ?? [];
  if (count === undefined || rows === undefined) throw new Error(`${name} is no scenario; expected one like 90x10000`);
  return { name, grain: hours ? 'hour' : 'day', count: Number(count), rows: Number(rows) };
}

/** A leap year, so that 8,784 hours are one. */
const FIRST = Date.UTC(2024, 0, 1);
const LENGTH_MS = { day: 86_400_000, hour: 3_600_000 } as const;

/** One partition as the plain loop sees it: half-open, as literals of SQL. */
export interface Slice {
  readonly key: string;
  readonly start: string;
  readonly end: string;
}

export function slicesOf({ grain, count }: Scenario): Slice[] {
  const text = (i: number) => {
    const time = new Date(FIRST + i * LENGTH_MS[grain]).toISOString();
    return grain === 'day' ? time.slice(0, 10) : time;
  };
  const key = (start: string) => (grain === 'day' ? start : `${start.slice(0, 13)}Z`);
  return Array.from({ length: count }, (_, i) => ({ key: key(text(i)), start: text(i), end: text(i + 1) }));
}

/** Names of a grain's tables, which `backfill.config.ts` has definitions of. */
export const TABLES = {
  day: { target: 'public.by_day', source: 'source_by_day', column: 'day', type: 'date' },
  hour: { target: 'public.by_hour', source: 'source_by_hour', column: 'ts', type: 'timestamptz' },
} as const;
