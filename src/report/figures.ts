/** `12,345`, the same in every locale. */
export function printCount(n: number): string {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 partition`, `14 partitions`. */
export function countOf(n: number, noun: string): string {
  return `${printCount(n)} ${noun}${n === 1 ? '' : 's'}`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `16 kB`, as PostgreSQL prints sizes: a kB is 1024 bytes. */
export function printBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = unit > 0 && value < 10 && !Number.isInteger(value) ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** `2026-03-15 10:02Z`: in UTC whatever the zone of the reader's machine, so that two readers see one time. */
export function printTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}Z`;
}
