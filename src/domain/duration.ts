const UNITS = {
  ms: 1,
  s: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};

/** Milliseconds of `30 s`, `10 minutes`, `6 hours`, `7 days`; undefined where the text is none of these. */
export function parseDuration(text: string): number | undefined {
  const [, amount, word] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/.exec(text.trim()) ?? [];
  if (amount === undefined || word === undefined) return undefined;
  const unit = UNITS[word as keyof typeof UNITS] ?? UNITS[word.replace(/s$/, '') as keyof typeof UNITS];
  return unit === undefined ? undefined : Math.round(Number(amount) * unit);
}
