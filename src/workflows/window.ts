export interface Windowing<T> {
  /** Asked when a place is free. @param next the oldest item that waits */
  readonly mayStart: (next: T) => boolean;
  /** How many of the oldest to start as one. @param waiting at least 1 @param next the oldest of them */
  readonly take: (waiting: number, next: T) => number;
  /** Never rejects. @returns how many are done with, from the first on; the others wait again, before what is newer */
  readonly run: (items: readonly T[]) => Promise<number>;
}

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
 * @param items oldest first
 * @returns the oldest item that was not started; undefined where all were
 */
export async function slidingWindow<T extends { readonly seq: number }>(
  items: readonly T[],
  width: number,
  { mayStart, take, run }: Windowing<T>,
): Promise<T | undefined> {
  const inFlight = new Set<Promise<void>>();
  let waiting = [...items];
  while (waiting.length > 0 || inFlight.size > 0) {
    const [next] = waiting;
    const isFree = inFlight.size < width && next !== undefined;
    if (!isFree || !mayStart(next)) {
      if (inFlight.size === 0) break;
      // What is in flight may give some back: older ones, which may start where this one may not.
      await Promise.race(inFlight);
      continue;
    }
    const slice = waiting.splice(0, take(waiting.length, next));
    const running: Promise<void> = run(slice).then((count) => {
      waiting = [...slice.slice(count), ...waiting].toSorted((a, b) => a.seq - b.seq);
      inFlight.delete(running);
    });
    inFlight.add(running);
  }
  return waiting[0];
}
