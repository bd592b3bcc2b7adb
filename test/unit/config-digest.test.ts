import fc from 'fast-check';
import { expect, it } from 'vitest';
import { digest } from '../../src/config/digest.js';

it('is SHA-256 of the JSON, known for ever', () => {
  // Digests are kept in ledgers: this one may never change.
  expect(digest({ b: [1, 'x', null], a: { d: true, c: 1.5 } })).toBe(
    'f3827ad7a9f4f3dd18d55f050458842360534516b7968ae1fe9338a8f777c8e7',
  );
});

it('does not depend on the order in which fields were written', () => {
  const value = fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.string(), fc.dictionary(fc.string(), fc.nat())));
  fc.assert(
    fc.property(value, (object) => {
      const reversed = Object.fromEntries(Object.entries(object).reverse());
      expect(digest({ x: reversed })).toBe(digest({ x: object }));
    }),
  );
});

it('depends on everything else', () => {
  const values = [{}, [], null, '', 0, false, { a: 1 }, { a: '1' }, { a: [1] }, { a: [1, 2] }, { a: [2, 1] }, { b: 1 }];
  expect(new Set(values.map(digest)).size).toBe(values.length);
});
