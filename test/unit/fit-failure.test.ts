import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FailureType } from '../../src/domain/failure.js';
import { MOST_FAILURE_BYTES, fitFailure } from '../../src/domain/fit-failure.js';
import { cutPage } from '../../src/domain/page.js';

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

describe('a failure that fits', () => {
  const any = fc.record(
    {
      type: fc.constantFrom(...Object.values(FailureType)),
      message: fc.string({ unit: 'binary', maxLength: 20_000, size: 'max' }),
      sqlstate: fc.constant('P0001'),
      detail: fc.string({ unit: 'binary', maxLength: 2_000, size: 'max' }),
      check: fc.string({ maxLength: 500, size: 'max' }),
      sample: fc.array(fc.string({ unit: 'grapheme', maxLength: 300, size: 'max' }), { maxLength: 30 }),
    },
    { requiredKeys: ['type', 'message'] },
  );

  it.each([MOST_FAILURE_BYTES, 1_900])('has at most %i bytes as JSON, and every field that it had', (most) => {
    fc.assert(
      fc.property(any, (info) => {
        const fitted = fitFailure(info, most);
        expect(bytes(fitted)).toBeLessThanOrEqual(most);
        expect(Object.keys(fitted).sort()).toEqual(Object.keys(info).sort());
        expect(fitted.sample?.length ?? 0).toBeLessThanOrEqual(10);
        expect(JSON.stringify(fitted)).not.toMatch(/(?<!\\)\\ud[89ab]..(?!\\ud)/);
      }),
      { numRuns: 50 },
    );
  });

  it('is left as it is where it is small', () => {
    const info = {
      type: FailureType.SqlFailed,
      message: 'duplicate key',
      sqlstate: '23505',
      sample: ['id=1'],
    } as const;
    expect(fitFailure(info)).toEqual(info);
  });
});

describe('a page', () => {
  it('ends before it is too long, by count or by size, and has one item at least', () => {
    expect(cutPage([1, 2, 3], 2)).toEqual({ items: [1, 2], hasMore: true });
    expect(cutPage([1, 2], 2)).toEqual({ items: [1, 2], hasMore: false });
    const big = ['x'.repeat(60), 'y'.repeat(60), 'z'];
    expect(cutPage(big, 9, 100)).toEqual({ items: big.slice(0, 1), hasMore: true });
    expect(cutPage(big, 9, 10).items).toHaveLength(1);
    expect(cutPage([], 9)).toEqual({ items: [], hasMore: false });
  });
});
