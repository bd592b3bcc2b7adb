/** `2026-03-05..2026-03-07, 2026-03-10`, as keys follow each other in `order`. */
export function rangesOf(keys: readonly string[], order: readonly string[]): string[] {
  const places = new Map(order.map((key, i) => [key, i]));
  const ranges: [from: string, to: string][] = [];
  for (const key of keys) {
    const last = ranges.at(-1);
    if (last && (places.get(last[1]) ?? NaN) + 1 === places.get(key)) last[1] = key;
    else ranges.push([key, key]);
  }
  return ranges.map(printRange);
}

/** `2026-03-05..2026-03-07`; a key alone as it is. */
export function printRange([from, to]: [string, string]): string {
  return from === to ? from : `${from}..${to}`;
}
