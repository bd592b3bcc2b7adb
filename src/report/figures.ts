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

const spans = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** `7 days`, `90 minutes`: in the largest unit that it is a whole number of. */
export function printSpan(ms: number): string {
  const [noun, unit] = spans.find(([, length]) => ms % length === 0) ?? ['millisecond', 1];
  return countOf(ms / unit, noun);
}

/** `2026-03-15 10:02Z`: in UTC whatever the zone of the reader's machine, so that two readers see one time. */
export function printTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}Z`;
}
