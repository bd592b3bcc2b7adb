import fc from 'fast-check';
import { expect, test } from 'vitest';
import { slidingWindow } from '../../src/workflows/window.js';

/**
 * Runs a window over items that take random times. Time is a queue of ends, so that nothing is waited for: whenever the
 * window rests, the item that ends first ends.
 */
async function runWindow(times: readonly number[], width: number, mayStart: (started: readonly number[]) => boolean) {
  const started: number[] = [];
  const atStart: number[] = [];
  const freeAtEnd: boolean[] = [];
  const ends: { readonly at: number; readonly end: () => void }[] = [];
  let now = 0;
  let asked = 0;
  const window = slidingWindow(
    times.map((_, i) => i),
    width,
    {
      mayStart() {
        asked++;
        return mayStart(started);
      },
      async run(item) {
        started.push(item);
        await new Promise<void>((resolve) => {
          ends.push({ at: now + (times[item] ?? 0), end: resolve });
          atStart.push(ends.length);
        });
      },
    },
  );
  let isOver = false;
  const over = window.finally(() => (isOver = true));
  for (;;) {
    await new Promise(setImmediate);
    if (isOver) return { started, atStart, freeAtEnd, count: await over, inFlight: ends.length, asked };
    ends.sort((a, b) => a.at - b.at);
    // At rest every place is taken, unless no item is left or none may start.
    freeAtEnd.push(ends.length < width && started.length < times.length && mayStart(started));
    const next = ends.shift();
    now = next?.at ?? now;
    next?.end();
  }
}

const times = fc.array(fc.nat({ max: 100 }), { maxLength: 40 });
const width = fc.integer({ min: 1, max: 8 });
const always = () => true;

test('W1 at most `width` are in flight', async () => {
  await fc.assert(
    fc.asyncProperty(times, width, async (each, most) => {
      const { atStart } = await runWindow(each, most, always);
      expect(Math.max(0, ...atStart)).toBe(Math.min(most, each.length));
    }),
  );
});

test('W2 they are started oldest first, and the next one as soon as a place is free', async () => {
  await fc.assert(
    fc.asyncProperty(times, width, async (each, most) => {
      const { started, freeAtEnd, count } = await runWindow(each, most, always);
      expect(started).toEqual(each.map((_, i) => i));
      expect(freeAtEnd).not.toContain(true);
      expect(count).toBe(each.length);
    }),
  );
});

test('C12 a slow item holds up no other', async () => {
  // Thirty, of which every third takes ten times as long: three lanes of ten items each, not ten batches of the slowest.
  const each = Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? 3000 : 300));
  let now = 0;
  const ends: { at: number; end: () => void }[] = [];
  const window = slidingWindow(each, 3, {
    mayStart: always,
    run: (time) => new Promise<void>((resolve) => void ends.push({ at: now + time, end: resolve })),
  });
  let isOver = false;
  void window.finally(() => (isOver = true));
  while (!isOver) {
    await new Promise(setImmediate);
    const next = ends.sort((a, b) => a.at - b.at).shift();
    now = next?.at ?? now;
    next?.end();
  }
  expect(now).toBeLessThanOrEqual(16_000);
});

test('W3 once `mayStart` says no, none is started any more, and those in flight are waited for', async () => {
  await fc.assert(
    fc.asyncProperty(times, width, fc.nat({ max: 40 }), async (each, most, stopAfter) => {
      const { started, count, inFlight } = await runWindow(each, most, (sofar) => sofar.length < stopAfter);
      const expected = Math.min(stopAfter, each.length);
      expect(started).toEqual(each.slice(0, expected).map((_, i) => i));
      expect(count).toBe(expected);
      expect(inFlight).toBe(0);
    }),
  );
});

test('W3 a no is asked for after a place got free, not before', async () => {
  // The failure of the first is known by the time at which the second would start.
  let failed = false;
  const started: number[] = [];
  const count = await slidingWindow([1, 2, 3], 1, {
    mayStart: () => !failed,
    async run(item) {
      started.push(item);
      await new Promise(setImmediate);
      failed = true;
    },
  });
  expect(started).toEqual([1]);
  expect(count).toBe(1);
});

test('W3 of nothing is nothing', async () => {
  expect(await slidingWindow([], 3, { mayStart: always, run: () => Promise.reject(new Error('never')) })).toBe(0);
});
