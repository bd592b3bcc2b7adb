/** Well under the 256 kB at which Temporal begins to warn, so that the rest of an answer fits, too. */
const MOST_PAGE_BYTES = 200_000;

/** A part of a list that is read a page at a time. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

/**
 * The first items that together are no longer than a page, and one at least.
 * @param items one more than `most` where there are more
 */
export function cutPage<T>(items: readonly T[], most: number, mostBytes = MOST_PAGE_BYTES): Page<T> {
  let bytes = 0;
  let fitting = 0;
  for (const item of items.slice(0, most)) {
    bytes += new TextEncoder().encode(JSON.stringify(item)).length + 1;
    if (fitting > 0 && bytes > mostBytes) break;
    fitting++;
  }
  return { items: items.slice(0, fitting), hasMore: items.length > fitting };
}
