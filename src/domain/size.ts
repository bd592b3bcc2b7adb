/** As PostgreSQL counts: a kB is 1024 bytes. A map, not an object: an object has a `constructor`, too. */
const UNITS: ReadonlyMap<string, number> = new Map(
  ['b', 'kb', 'mb', 'gb', 'tb'].map((unit, power) => [unit, 1024 ** power] as const),
);

/** Bytes of `500 MB`, `10 GB`, `1.5 TB`; undefined where the text is none of these. */
export function parseSize(text: string): number | undefined {
  const [, amount, word] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/i.exec(text.trim()) ?? [];
  const unit = word === undefined ? undefined : UNITS.get(word.toLowerCase());
  return amount === undefined || unit === undefined ? undefined : Math.round(Number(amount) * unit);
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `16 kB`, as PostgreSQL prints sizes: a kB is 1024 bytes. */
export function printBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = unit > 0 && value < 10 && !Number.isInteger(value) ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}
