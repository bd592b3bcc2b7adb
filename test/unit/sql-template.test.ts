import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BoundName, type SqlTemplate, dedent, printSql, renderSql } from '../../src/domain/sql-template.js';

const bounds = {
  start: '2024-03-10T05:00:00Z',
  end: '2024-03-11T04:00:00Z',
  startDate: '2024-03-10',
  endDate: '2024-03-11',
  startValue: 'lower',
  endValue: 'upper',
  key: '2024-03-10',
};
const bound = (backfillBound: BoundName) => ({ backfillBound });

describe('renderSql', () => {
  const template: SqlTemplate = {
    strings: ['select * from t where at >= ', ' and at < ', ' and kind = ', ' or at = ', ''],
    params: [bound('start'), bound('end'), 'a', bound('start')],
  };

  it('casts bounds where they stand, and sends each once', () => {
    expect(renderSql(template, bounds, 'date')).toEqual({
      text: 'select * from t where at >= $1::pg_catalog.timestamptz and at < $2::pg_catalog.timestamptz and kind = $3 or at = $1::pg_catalog.timestamptz',
      values: ['2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z', 'a'],
    });
  });

  it('counts from a number of the caller', () => {
    const { text, values } = renderSql(template, bounds, 'date', 5);
    expect(text).toContain('at >= $5::');
    expect(text).toContain('kind = $7 or at = $5::');
    expect(values).toHaveLength(3);
  });

  it.each([
    ['start', 'timestamptz', 'timestamptz'],
    ['endDate', 'date', 'date'],
    ['startValue', 'date', 'timestamptz'],
    ['endValue', 'date', 'timestamptz'],
    ['key', 'text', 'text'],
  ] as const)('%s has its type: %s in a table by date, %s in one by instant', (name, byDate, byInstant) => {
    const one = { strings: ['', ''], params: [bound(name)] };
    expect(renderSql(one, bounds, 'date').text).toBe(`$1::pg_catalog.${byDate}`);
    expect(renderSql(one, bounds, 'timestamp with time zone').text).toBe(`$1::pg_catalog.${byInstant}`);
    expect(renderSql(one, bounds, 'date').values).toEqual([bounds[name]]);
  });

  it('never puts a value into the text, and gives every number a value', () => {
    const names = Object.keys(bounds) as BoundName[];
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()));
    const param = fc.oneof(fc.constantFrom(...names).map(bound), value);
    fc.assert(
      fc.property(fc.array(param), fc.integer({ min: 1, max: 20 }), (params, startAt) => {
        const strings = ['<', ...params.map(() => '|')];
        const { text, values } = renderSql({ strings, params }, bounds, 'date', startAt);
        expect(text).toMatch(/^<(?:\$\d+(?:::pg_catalog\.\w+)?\|)*$/);
        const numbers = [...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n) - startAt);
        expect(numbers).toHaveLength(params.length);
        expect(new Set(numbers)).toEqual(new Set(values.map((_, i) => i)));
        numbers.forEach((n, i) => {
          const given = params[i];
          const isBound = typeof given === 'object' && given !== null && 'backfillBound' in given;
          expect(values[n]).toBe(isBound ? bounds[given.backfillBound] : given);
        });
      }),
    );
  });
});

describe('printSql', () => {
  it('names bounds and shows other values as literals', () => {
    const template: SqlTemplate = {
      strings: ['a = ', ' and b = ', ' and c = ', ' and d = ', ' and e = ', ' and f = ', ''],
      params: [bound('startDate'), "it's", 1.5, null, true, 7n],
    };
    expect(printSql(template)).toBe("a = :startDate and b = 'it''s' and c = 1.5 and d = null and e = true and f = 7");
  });

  it('shows an array', () => {
    expect(printSql({ strings: ['a = any(', ')'], params: [["it's", 2]] })).toBe(`a = any('["it''s",2]')`);
  });

  it('is the text itself where there is no parameter', () => {
    expect(printSql({ strings: ['select 1'], params: [] })).toBe('select 1');
  });
});

describe('dedent', () => {
  it.each([
    ['', ''],
    ['select 1', 'select 1'],
    ['  select 1\n    from t\n  ', 'select 1\n  from t'],
    ['\n      select 1\n        from t\n    ', 'select 1\n  from t'],
    // The first line follows the backtick; the margin is that of the others.
    ['select 1\n      from t\n     where x', 'select 1\n from t\nwhere x'],
    ['\n    a\n\n    b', 'a\n\nb'],
  ])('takes the margin of %j', (text, expected) => {
    expect(dedent(text)).toBe(expected);
  });

  it('changes nothing but white space at the margin', () => {
    const lines = fc.array(fc.stringMatching(/^ {0,6}[a-z]{0,5}$/), { maxLength: 6 });
    fc.assert(
      fc.property(lines, (parts) => {
        const text = parts.join('\n');
        expect(dedent(text).replaceAll(/\s+/g, ' ').trim()).toBe(text.replaceAll(/\s+/g, ' ').trim());
      }),
    );
  });
});
