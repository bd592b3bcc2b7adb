const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A map, not an object: an object has a `constructor`, too. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ...['s', 'second', 'seconds'].map((word) => [word, SECOND] as const),
  ...['m', 'min', 'mins', 'minute', 'minutes'].map((word) => [word, MINUTE] as const),
  ...['h', 'hour', 'hours'].map((word) => [word, HOUR] as const),
  ...['d', 'day', 'days'].map((word) => [word, DAY] as const),
]);

/** Milliseconds of `30 s`, `10 minutes`, `6 hours`, `7 days`; undefined where the text is none of these. */
export function parseDuration(text: string): number | undefined {
  const [, amount, word] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/.exec(text.trim()) ?? [];
  if (amount === undefined || word === undefined) return undefined;
  const unit = UNITS.get(word);
  return unit === undefined ? undefined : Math.round(Number(amount) * unit);
}
