import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mentionedNames, normalizeSql, tokenize } from '../../src/domain/sql-lexer.js';

const texts = (sql: string) => tokenize(sql).map(({ text }) => text);

/** Every kind of token, each as it stands in SQL. */
const literal = fc.oneof(
  fc.string().map((text) => `'${text.replaceAll("'", "''")}'`),
  fc.constantFrom(
    "'--'",
    "'/* no comment */'",
    "''",
    "'it''s'",
    "E'it\\'s -- \\\\'",
    "e'\\''",
    "b'01'",
    "X'1F'",
    "N'n'",
  ),
  fc.constantFrom("U&'d\\0061t'", '$$ it\'s -- "not" a comment $$', '$tag$ $$ $tag$', '$é$ x $é$'),
  fc.nat().map(String),
  fc.constantFrom('1.5e-3', '.5', '12.', '1E+10', '1_000', '$1', '$23'),
);
const word = fc.constantFrom('select', 'From', 'WHERE', 'naïve', '_x1', 'a$b', 'über', '表');
const quoted = fc.constantFrom('"Day"', '"a ""b"" c"', '"--"', 'U&"d\\0061t"', '"select"', '"line\nbreak"');
const symbol = fc.constantFrom('(', ')', ',', '.', ';', '*', '+', '-', '/', '<', '=', ':', '%', '|', '[');
const tokens = fc.array(fc.oneof(literal, word, quoted, symbol), { maxLength: 30 });

/** Begins with white space: `-` and a comment right after it would be another comment. */
const gap = fc
  .tuple(
    fc.constantFrom(' ', '\n', '\t', '\r\n', '\f', '  \n\t'),
    fc.array(fc.constantFrom('-- note\n', '--\n', '/* a */', '/* a \' /* b */ " $$ */', '/***/', ' ', '\n'), {
      maxLength: 3,
    }),
  )
  .map(([space, notes]) => `${space}${notes.join('')} `);

function spaced(parts: readonly string[], gaps: readonly string[]): string {
  return parts.map((part, i) => `${gaps[i % gaps.length] ?? ' '}${part}`).join('');
}
const gaps = fc.array(gap, { minLength: 1, maxLength: 10 });

describe('normalizeSql', () => {
  it('is the same whatever white space and comments lie between the tokens, and whatever the case of words', () => {
    fc.assert(
      fc.property(tokens, gaps, gaps, (parts, one, other) => {
        const upper = parts.map((part) => (/^[a-z_]+$/i.test(part) ? part.toUpperCase() : part));
        expect(normalizeSql(spaced(upper, other))).toBe(normalizeSql(spaced(parts, one)));
      }),
      { numRuns: 300 },
    );
  });

  it('differs when a literal, a quoted name or a symbol does', () => {
    const exact = fc.oneof(literal, quoted, symbol);
    fc.assert(
      fc.property(tokens, tokens, exact, exact, gaps, (before, after, one, other, between) => {
        fc.pre(one !== other);
        const withPart = (part: string) => normalizeSql(spaced([...before, part, ...after], between));
        expect(withPart(one)).not.toBe(withPart(other));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["select 'a b'", "select 'a  b'"],
    ["select 'a'", "select 'A'"],
    ['select "a"', 'select "A"'],
    ['select "a"', "select 'a'"],
    ["select '--x'", "select '' --x"],
    ['select $$a$$', 'select $$a $$'],
    ['select $a$x$a$', 'select $b$x$b$'],
    ["select E'a\\'b'", "select E'a\\' b'"],
    ['select 1.5e-3', 'select 1.5e -3'],
    ['select 15', 'select 1 5'],
    ['select a_b', 'select a _b'],
    ['select a - -1', 'select a --1'],
    // Only ASCII is folded, as in a database in UTF-8.
    ['select Ä', 'select ä'],
    ['select \u212A', 'select k'],
    // A no-break space is a letter to PostgreSQL.
    ['select a\u00a0b', 'select a b'],
    ['select a\u0301', 'select a \u0301'],
  ])('tells %j from %j', (one, other) => {
    expect(normalizeSql(one)).not.toBe(normalizeSql(other));
  });

  it('reads its own answer as the same', () => {
    fc.assert(fc.property(tokens, (parts) => isFixedPoint(parts.join(' '))));
  });
});

function isFixedPoint(sql: string): boolean {
  const once = normalizeSql(sql);
  return normalizeSql(once) === once;
}

describe('tokenize', () => {
  it.each([
    ['a - -1', ['a', '-', '-', '1']],
    ['a--1\nb', ['a', 'b']],
    ['1.5e-3 + .5', ['1.5e-3', '+', '.5']],
    ['1 /* one /* two */ still */ 2', ['1', '2']],
    ['1 /* never closed', ['1']],
    ['/*/ not closed */ 1', ['1']],
    ["'it''s' 'x'", ["'it''s'", "'x'"]],
    ["E'a\\'--' -- note", ["E'a\\'--'"]],
    // A backslash is nothing special in a plain string.
    ["'a\\' -- note", ["'a\\'"]],
    ["$f$ begin return '$$'; end $f$ x", ["$f$ begin return '$$'; end $f$", 'x']],
    ['a$b$c', ['a$b$c']],
    ['$1::date', ['$1', ':', ':', 'date']],
    ['U&"d\\0061t" u&\'x\'', ['U&"d\\0061t"', "u&'x'"]],
    ['"a ""b""".c', ['"a ""b"""', '.', 'c']],
    ['x_2024ß', ['x_2024ß']],
  ])('cuts %j', (sql, expected) => {
    expect(texts(sql)).toEqual(expected);
  });

  it('ends for any text, and makes nothing up', () => {
    const nasty = fc.array(
      fc.constantFrom('$', '$$', '$a$', "'", '"', '/*', '*/', '--', '\\', 'E', 'U&', '.', 'e', '1', '\n', ' '),
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      nasty.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (sql) => {
        let at = 0;
        for (const token of texts(sql)) {
          const found = sql.toLowerCase().indexOf(token.toLowerCase(), at);
          expect(found).toBeGreaterThanOrEqual(0);
          at = found + token.length;
        }
        expect(isFixedPoint(sql)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('reads a long text that opens what it never closes once, not once for each character', () => {
    for (const open of ["'", '"', "E'", '$a$', '/*', "''", '$', '(']) tokenize(open.repeat(20_000));
  });
});

describe('mentionedNames', () => {
  const names = (sql: string) =>
    mentionedNames(sql).map(({ parts, isCall }) => `${parts.join('|')}${isCall ? '()' : ''}`);

  it('are words and quoted names, unquoted, with their dots', () => {
    expect(names('select "Day" from "Sales Ops"."Or""der" o join raw . orders on o.id')).toEqual(
      expect.arrayContaining(['Day', 'Sales Ops|Or"der', 'raw|orders', 'o|id']),
    );
  });

  it('are calls where a parenthesis follows', () => {
    expect(names('select f(x), mart.g (y), h')).toEqual(['select', 'f()', 'x', 'mart|g()', 'y', 'h']);
  });

  it('are none within literals and comments', () => {
    const found = names("select 'orders' /* customers */ -- prices\n, $$rates$$, E'x\\'users'");
    expect(found).toEqual(['select']);
  });

  it('come once each', () => {
    expect(names('A a "a" A')).toEqual(['a']);
  });

  it('ends for any text', () => {
    const part = fc.constantFrom('a', '"B"', '.', '..', '(', ' ', "'x'", '1', '*', '$$', '"');
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        for (const name of mentionedNames(parts.join(''))) expect(name.parts.length).toBeGreaterThan(0);
      }),
    );
  });
});
