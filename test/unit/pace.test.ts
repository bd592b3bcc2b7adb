import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/domain/pace.js';

/** The sizes of the slices of a run in which every partition takes as long. */
function slicesOf(total: number, msEach: number, width = 1): number[] {
  const pace = new Pace(total, width);
  const sizes: number[] = [];
  for (let left = total; left > 0;) {
    const asked = pace.take(left);
    // As the activity does: none is begun after a second.
    const written = Math.min(asked, Math.max(1, Math.ceil(1000 / msEach)));
    pace.wrote({ asked, written, ms: written * msEach });
    sizes.push(written);
    left -= written;
  }
  return sizes;
}

describe('a slice', () => {
  it('is one partition in a short run', () => {
    expect(slicesOf(31, 20)).toEqual(Array.from({ length: 31 }, () => 1));
  });

  it('is one partition where they take long', () => {
    expect(new Set(slicesOf(1000, 600))).toEqual(new Set([1]));
    expect(new Set(slicesOf(1000, 60_000))).toEqual(new Set([1]));
  });

  it('gets what fits into a second, and fifty at most, by the time of the last', () => {
    expect(slicesOf(10_000, 100).slice(0, 4)).toEqual([1, 10, 10, 10]);
    expect(slicesOf(10_000, 5).slice(0, 4)).toEqual([1, 50, 50, 50]);
    expect(slicesOf(10_000, 0.001).slice(0, 4)).toEqual([1, 50, 50, 50]);
    expect(slicesOf(60, 20)).toEqual([1, 50, 9]);
  });

  it('gets less where the last took longer than was thought', () => {
    const pace = new Pace(1000, 1);
    pace.wrote({ asked: 1, written: 1, ms: 20 });
    expect(pace.take(999)).toBe(50);
    pace.wrote({ asked: 50, written: 4, ms: 1_200 });
    expect(pace.take(995)).toBe(3);
  });

  it('leaves enough for all that go side by side', () => {
    expect(slicesOf(40, 5, 16).slice(0, 4)).toEqual([1, 2, 2, 2]);
    const pace = new Pace(64, 4);
    pace.wrote({ asked: 1, written: 1, ms: 5 });
    expect([60, 45, 4, 3, 1].map((waiting) => pace.take(waiting))).toEqual([15, 11, 1, 1, 1]);
  });

  it('is one partition again after one that met trouble', () => {
    const pace = new Pace(1e6, 1);
    pace.wrote({ asked: 1, written: 1, ms: 30 });
    expect(pace.take(1e6)).toBe(33);
    pace.wrote({ asked: 33, written: 3, ms: 500 });
    expect(pace.take(1e6)).toBe(1);
    pace.wrote({ asked: 1, written: 0, ms: 500 });
    expect(pace.take(1e6)).toBe(1);
  });

  it('is never empty, whatever was measured', () => {
    const slice = fc.record({ asked: fc.integer({ min: 1, max: 50 }), written: fc.nat(50), ms: fc.integer() });
    fc.assert(
      fc.property(
        fc.array(slice),
        fc.integer({ min: 1, max: 1e5 }),
        fc.integer({ min: 1, max: 64 }),
        (all, left, width) => {
          const pace = new Pace(1e6, width);
          for (const one of all) pace.wrote(one);
          expect(pace.take(left)).toBeGreaterThanOrEqual(1);
          expect(pace.take(left)).toBeLessThanOrEqual(50);
        },
      ),
    );
  });
});
