/**
 * A sliding window over the partitions of a page.
 *
 * - W1: at most `width` are in flight.
 * - W2: they are started oldest first, and the next one as soon as a place is free. Batches of `width` with a
 *   `Promise.all` were the other way: a slow partition holds up its whole batch (30 s instead of 16 s in case C12).
 * - W3: once `mayStart` says no, none is started any more, and those in flight are waited for.
 *
 * Serial on purpose where it can be: Temporal's task queue is not first in, first out (45–58 inversions in a backlog of
 * 100 were measured), so order exists only in what is scheduled, and when.
 * @param run never rejects
 * @returns the number of items that were started
 */
export async function slidingWindow<T>(
  items: readonly T[],
  width: number,
  { mayStart, run }: { readonly mayStart: () => boolean; readonly run: (item: T) => Promise<void> },
): Promise<number> {
  const inFlight = new Set<Promise<void>>();
  let started = 0;
  for (const item of items) {
    if (inFlight.size >= width) await Promise.race(inFlight);
    if (!mayStart()) break;
    const running: Promise<void> = run(item).finally(() => inFlight.delete(running));
    inFlight.add(running);
    started++;
  }
  await Promise.all(inFlight);
  return started;
}
