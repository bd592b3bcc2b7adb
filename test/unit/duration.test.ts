import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration } from '../../src/domain/duration.js';

test.each([
  ['30 s', 30_000],
  ['30s', 30_000],
  ['1.5 s', 1_500],
  ['250 ms', 250],
  ['10 minutes', 600_000],
  ['10 min', 600_000],
  ['1 minute', 60_000],
  ['6 hours', 21_600_000],
  ['1 h', 3_600_000],
  ['7 days', 604_800_000],
  [' 2 d ', 172_800_000],
])('%j is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  '',
  '5',
  's',
  '5 weeks',
  '-1 s',
  '1,5 s',
  '1e3 s',
  '5  s',
  '5 S',
  '1 s 5 ms',
  'ten s',
  '5 constructor',
  '5 ss',
  '5 mss',
])('%j is no span', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('any text gives a number of milliseconds, or nothing', () => {
  const word = fc.oneof(fc.stringMatching(/^[a-z]{1,12}$/), fc.constantFrom('constructor', 'valueOf', 's', 'hours'));
  fc.assert(
    fc.property(fc.nat(), word, (amount, unit) => {
      const ms = parseDuration(`${amount} ${unit}`);
      expect(ms === undefined || Number.isInteger(ms)).toBe(true);
    }),
  );
});
