import { expect, test } from 'vitest';
import { mostAtOnce } from '../support/logged-month.js';

const attempt = (day: number, start: number, end: number | null) => ({ day, start, end });

test('C12 attempts at work at once are counted, those that were struck included', () => {
  expect(mostAtOnce([attempt(1, 0, 10), attempt(2, 1, 4), attempt(3, 5, 6)])).toBe(2);
  expect(mostAtOnce([attempt(1, 0, null), attempt(2, 1, 4), attempt(1, 5, 9), attempt(3, 6, 7)])).toBe(2);
  expect(mostAtOnce([attempt(1, 0, 9), attempt(2, 1, 9), attempt(3, 2, 9), attempt(4, 3, 9)])).toBe(4);
});
