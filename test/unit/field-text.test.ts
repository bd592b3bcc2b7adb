import { describe, expect, it } from 'vitest';
import { fieldText } from '../../src/postgres/row-sources/field-text.js';

const text = (value: unknown, type: string) => fieldText(value, { name: 'c', type });

describe('a value of code as text for its column', () => {
  class Point {
    readonly x = 1;
  }
  it.each<[value: unknown, type: string, text: string | null]>([
    [null, 'text', null],
    ['a\ud83d\ude00b', 'text', 'a😀b'],
    [-0, 'double precision', '-0'],
    [-0, 'integer', '0'],
    [[-0, 1], 'real[]', '{"-0","1"}'],
    [1e21, 'double precision', '1e+21'],
    [1e300, 'double precision', '1e+300'],
    [Number.MAX_SAFE_INTEGER, 'bigint', '9007199254740991'],
    [12345678901234567890n, 'numeric', '12345678901234567890'],
    [0.1, 'numeric', '0.1'],
    [NaN, 'numeric', 'NaN'],
    [-Infinity, 'double precision', '-Infinity'],
    [Uint8Array.of(0, 92, 255), 'bytea', '\\x005cff'],
    [new Uint8Array([1, 2, 3]).subarray(1), 'bytea', '\\x0203'],
    [[Uint8Array.of(1)], 'bytea[]', '{"\\\\x01"}'],
    [new Date('2024-03-04T05:06:07.089Z'), 'timestamp with time zone', '2024-03-04T05:06:07.089Z'],
    [new Date('0050-01-01T00:00:00Z'), 'timestamp with time zone', '0050-01-01T00:00:00.000Z'],
    [new Date(Date.UTC(12024, 0, 1)), 'timestamp(3) with time zone', '12024-01-01T00:00:00.000Z'],
    [new Date('0000-12-31T00:00:00Z'), 'timestamp with time zone', '0001-12-31T00:00:00.000Z BC'],
    [new Date(Date.UTC(-43, 2, 15)), 'timestamp with time zone', '0044-03-15T00:00:00.000Z BC'],
    [
      { a: [1, null, undefined], u: undefined, d: new Date(0) },
      'jsonb',
      '{"a":[1,null,null],"d":"1970-01-01T00:00:00.000Z"}',
    ],
    [new Point(), 'json', '{"x":1}'],
    [Object.assign(Object.create(null) as object, { a: 1 }), 'jsonb', '{"a":1}'],
    [[{ a: 1 }, 2], 'jsonb', '[{"a":1},2]'],
    [[{ a: 'q"' }, null], 'jsonb[]', '{"{\\"a\\":\\"q\\\\\\"\\"}",NULL}'],
  ])('%o of type %s is %j', (value, type, expected) => {
    expect(text(value, type)).toBe(expected);
  });

  it.each<[value: unknown, type: string, words: RegExp]>([
    ['a\ud800b', 'text', /c has half of a surrogate pair/],
    [['\udc00'], 'text[]', /half of a surrogate pair/],
    [undefined, 'text', /c is missing/],
    [2 ** 53, 'bigint', /c is 9007199254740992, a whole number that JavaScript rounds/],
    [1e300, 'numeric', /c is 1e\+300, a whole number that JavaScript rounds/],
    [Uint8Array.of(65), 'text', /c is bytes, and a column of type text/],
    [Uint8Array.of(65), 'jsonb', /c is bytes/],
    [new Date(NaN), 'timestamp with time zone', /invalid Date/],
    [new Date(0), 'date', /c is a Date, and a column of type date/],
    [new Map([[1, 2]]), 'jsonb', /c is a Map, for which JSON has no form/],
    [{ tags: new Set([1]) }, 'jsonb', /c \(tags\) is a Set/],
    [{ a: [NaN] }, 'json', /c \(0\) is NaN/],
    [{ a: 1n }, 'jsonb', /c \(a\) is a bigint/],
    [{ f: () => 1 }, 'jsonb', /c \(f\) is a function/],
    [{ b: Uint8Array.of(1) }, 'jsonb', /c \(b\) is a Uint8Array/],
    [{ toJSON: () => undefined }, 'jsonb', /c has a toJSON that gives nothing/],
    [{ a: 1 }, 'text', /c is an object, and a column of type text/],
    [() => 1, 'text', /c is a function/],
  ])('%o of type %s is refused', (value, type, words) => {
    expect(() => text(value, type)).toThrow(words);
    expect(() => text(value, type)).toThrow(TypeError);
  });
});
