import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseTableName, printTableName, quoteIdentifier, quoteTableName } from '../../src/domain/table-name.js';

/** Anything that PostgreSQL takes as a name. */
const identifier = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    fc.constantFrom('select', 'Day', 'a.b', '"', "it's", ' '),
  )
  .filter((name) => !name.includes('\0') && Buffer.byteLength(name) <= 63);

describe('a table name', () => {
  it('printed and parsed is itself, for any names', () => {
    fc.assert(
      fc.property(identifier, identifier, (schema, name) => {
        const table = { schema, name };
        expect(parseTableName(printTableName(table))).toEqual(table);
        expect(parseTableName(quoteTableName(table))).toEqual(table);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['fact', 'public', 'fact', 'public.fact'],
    ['Mart.Daily_Revenue', 'mart', 'daily_revenue', 'mart.daily_revenue'],
    ['"Sales Ops"."Order"', 'Sales Ops', 'Order', '"Sales Ops"."Order"'],
    ['"mart"."fact"', 'mart', 'fact', 'mart.fact'],
    ['mart."na""me"', 'mart', 'na"me', 'mart."na""me"'],
    ['"a.b".c', 'a.b', 'c', '"a.b".c'],
    // Letters beyond ASCII stay as they are.
    ['ÄRGER', 'public', 'Ärger', 'public."Ärger"'],
    ['_x$1', 'public', '_x$1', 'public."_x$1"'],
  ])('%s is read as PostgreSQL would', (text, schema, name, printed) => {
    const parsed = parseTableName(text);
    expect(parsed).toEqual({ schema, name });
    expect(parsed && printTableName(parsed)).toBe(printed);
  });

  it('has at most 63 bytes a part, which are not 63 letters', () => {
    expect(parseTableName('x'.repeat(63))).toBeDefined();
    expect(parseTableName('x'.repeat(64))).toBeUndefined();
    expect(parseTableName(`${'ä'.repeat(31)}x`)).toBeDefined();
    expect(parseTableName(`${'ä'.repeat(31)}xy`)).toBeUndefined();
    expect(parseTableName(`"${'x'.repeat(64)}".t`)).toBeUndefined();
    // The quotes do not count.
    expect(parseTableName(`"${'""'.repeat(63)}"`)).toBeDefined();
  });
});

test.each([
  'fact; drop table src; --',
  'fact"; drop table src; --',
  '"fact"; drop table src; --"',
  "fact'); drop table src; --",
  'fact -- ',
  'fact\n',
  ' fact',
  'a.b.c',
  '.fact',
  'fact.',
  '""',
  'mart.""',
  '"a\0b"',
  '"open',
  '1fact',
  'a-b',
  '',
])('C20 %j is no table name', (text) => {
  expect(parseTableName(text)).toBeUndefined();
});

test('C20 a quoted identifier ends where it should, whatever is in it', () => {
  fc.assert(
    fc.property(identifier, (name) => {
      const quoted = quoteIdentifier(name);
      expect(quoted.slice(1, -1).replaceAll('""', '')).not.toContain('"');
      expect(/^"(?:[^"]|"")+"$/.test(quoted)).toBe(true);
    }),
  );
});
