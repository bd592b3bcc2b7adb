import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { slidingWindow } from '../../src/workflows/window.js';

interface Item {
  readonly seq: number;
  /** How long it takes. */
  readonly time: number;
}

interface Setting {
  readonly times: readonly number[];
  readonly width: number;
  readonly mayStart?: (started: readonly number[], next: Item) => boolean;
  readonly take?: (waiting: number) => number;
  /** How many of a slice are done with when it ends. */
  readonly done?: (slice: readonly Item[]) => number;
}

/**
 * Runs a window over items that take some time. Time is a queue of ends, so that nothing is waited for: whenever the
 * window rests, the slice that ends first ends.
 */
async function runWindow({ times, width, mayStart = always, take = () => 1, done = ({ length }) => length }: Setting) {
  const started: number[] = [];
  const ended: number[] = [];
  const atStart: number[] = [];
  const freeAtEnd: boolean[] = [];
  const ends: { readonly at: number; readonly end: () => void }[] = [];
  const items = times.map((time, seq) => ({ seq, time }));
  let now = 0;
  const window = slidingWindow<Item>(items, width, {
    mayStart: (next) => mayStart(started, next),
    take,
    async run(slice) {
      const count = done(slice);
      started.push(...slice.map(({ seq }) => seq));
      await new Promise<void>((resolve) => {
        ends.push({ at: now + slice.reduce((sum, { time }) => sum + time, 0), end: resolve });
        atStart.push(ends.length);
      });
      ended.push(...slice.slice(0, count).map(({ seq }) => seq));
      return count;
    },
  });
  let isOver = false;
  void window.finally(() => (isOver = true));
  for (;;) {
    await new Promise(setImmediate);
    if (isOver) return { started, ended, atStart, freeAtEnd, next: (await window)?.seq, inFlight: ends.length, now };
    ends.sort((a, b) => a.at - b.at);
    // At rest every place is taken, unless no item waits or none may start.
    const next = items.find(({ seq }) => !started.includes(seq));
    freeAtEnd.push(ends.length < width && next !== undefined && mayStart(started, next));
    const first = ends.shift();
    now = first?.at ?? now;
    first?.end();
  }
}

const times = fc.array(fc.nat({ max: 100 }), { maxLength: 40 });
const width = fc.integer({ min: 1, max: 8 });
const always = () => true;

test('W1 at most `width` are in flight', async () => {
  await fc.assert(
    fc.asyncProperty(times, width, async (each, most) => {
      const { atStart } = await runWindow({ times: each, width: most });
      expect(Math.max(0, ...atStart)).toBe(Math.min(most, each.length));
    }),
  );
});

test('W2 they are started oldest first, and the next one as soon as a place is free', async () => {
  await fc.assert(
    fc.asyncProperty(times, width, async (each, most) => {
      const { started, freeAtEnd, next } = await runWindow({ times: each, width: most });
      expect(started).toEqual(each.map((_, i) => i));
      expect(freeAtEnd).not.toContain(true);
      expect(next).toBeUndefined();
    }),
  );
});

test('C12 a slow item holds up no other', async () => {
  // Thirty, of which every third takes ten times as long: three lanes of ten items each, not ten batches of the slowest.
  const { now } = await runWindow({
    times: Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? 3000 : 300)),
    width: 3,
  });
  expect(now).toBeLessThanOrEqual(16_000);
});

test('W3 once `mayStart` says no, none is started any more, and those in flight are waited for', async () => {
  await fc.assert(
    fc.asyncProperty(times, width, fc.nat({ max: 40 }), async (each, most, stopAfter) => {
      const mayStart = (sofar: readonly number[]) => sofar.length < stopAfter;
      const { started, next, inFlight } = await runWindow({ times: each, width: most, mayStart });
      const expected = Math.min(stopAfter, each.length);
      expect(started).toEqual(each.slice(0, expected).map((_, i) => i));
      expect(next).toBe(expected < each.length ? expected : undefined);
      expect(inFlight).toBe(0);
    }),
  );
});

test('W3 a no is asked for after a place got free, not before', async () => {
  // The failure of the first is known by the time at which the second would start.
  let failed = false;
  const { started, next } = await runWindow({
    times: [1, 2, 3],
    width: 1,
    mayStart: () => !failed,
    done: () => ((failed = true), 1),
  });
  expect(started).toEqual([0]);
  expect(next).toBe(1);
});

test('W3 of nothing is nothing', async () => {
  expect(await runWindow({ times: [], width: 3 })).toMatchObject({ started: [], next: undefined });
});

describe('in slices', () => {
  /** Slices of any size, of which any number is done with, but at least one. */
  const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 5 }));
  const slicing = (stream: Iterable<number>) => {
    const iterator = stream[Symbol.iterator]();
    const next = () => iterator.next().value as number;
    return { take: next, done: ({ length }: readonly Item[]) => Math.min(length, next()) };
  };

  test('W1 W2 what a slice gives back waits again, before what is newer, and every item is done with once', async () => {
    await fc.assert(
      fc.asyncProperty(times, width, sizes, async (each, most, stream) => {
        const oldest: number[] = [];
        const mayStart = (started: readonly number[], { seq }: Item) => {
          oldest.push(seq - Math.max(-1, ...started));
          return true;
        };
        const { ended, atStart, freeAtEnd, next } = await runWindow({
          times: each,
          width: most,
          mayStart,
          ...slicing(stream),
        });
        expect(ended.toSorted((a, b) => a - b)).toEqual(each.map((_, i) => i));
        expect(Math.max(0, ...atStart)).toBeLessThanOrEqual(most);
        expect(freeAtEnd).not.toContain(true);
        // Never one that leaves out an older one: either the next that was never started, or one that was given back.
        expect(oldest.every((ahead) => ahead <= 1)).toBe(true);
        expect(next).toBeUndefined();
      }),
    );
  });

  test('W3 where only what was given back may start, all that ended is older than what is left', async () => {
    await fc.assert(
      fc.asyncProperty(times, width, fc.nat({ max: 40 }), sizes, async (each, most, stopAfter, stream) => {
        const mayStart = (started: readonly number[], { seq }: Item) =>
          started.length < stopAfter || seq < Math.max(-1, ...started);
        const { ended, next = Infinity } = await runWindow({ times: each, width: most, mayStart, ...slicing(stream) });
        expect(ended.every((seq) => seq < next)).toBe(true);
        expect(new Set(ended).size).toBe(ended.length);
      }),
    );
  });

  test('W3 the oldest that is not done with is what is left', async () => {
    await fc.assert(
      fc.asyncProperty(times, width, fc.nat({ max: 40 }), sizes, async (each, most, stopAfter, stream) => {
        const mayStart = (started: readonly number[]) => started.length < stopAfter;
        const { ended, next, inFlight } = await runWindow({ times: each, width: most, mayStart, ...slicing(stream) });
        expect(next).toBe(each.map((_, i) => i).find((seq) => !ended.includes(seq)));
        expect(inFlight).toBe(0);
      }),
    );
  });
});
