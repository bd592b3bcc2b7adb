import sqlTag from 'sql-template-tag';
import { describe, expect, it, test } from 'vitest';
import { everyRow, noRows, notNull, rowCount, unique } from '../../src/config/checks.js';
import { buildIdentity, compileTable } from '../../src/config/compile.js';
import { type TableInput, defineTable, sql } from '../../src/config/define.js';
import { ConfigError } from '../../src/config/errors.js';
import { type SqlTemplate, printSql } from '../../src/domain/sql-template.js';

const base = defineTable({
  name: 'mart.fact',
  partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
  build: ({ start, end }) => sql`select day, 'x' as kind from src where at >= ${start} and at < ${end}`,
});
const compile = (changes: Partial<TableInput> = {}) => compileTable({ ...base, ...changes }, 'tables[0]');

function buildOf(changes: Partial<TableInput>): SqlTemplate {
  const { origin } = compile(changes);
  if (origin.kind !== 'sql') throw new Error('It is no SQL');
  return origin.build;
}

describe('compileTable', () => {
  it('fills in the defaults', () => {
    expect(compile()).toMatchObject({
      table: { schema: 'mart', name: 'fact' },
      name: 'mart.fact',
      description: null,
      owner: null,
      reads: [],
      checks: [],
      cumulative: false,
      whenEmpty: 'fail',
      searchPath: null,
      timeouts: { attemptMs: 3_600_000, partitionMs: 21_600_000, lockMs: 5_000 },
    });
  });

  it('writes names in one spelling', () => {
    const { name, reads } = compile({ name: '"Sales Ops"."Order"', reads: ['RAW.Orders', 'rates', '"raw"."x y"'] });
    expect(name).toBe('"Sales Ops"."Order"');
    expect(reads).toEqual(['raw.orders', 'public.rates', 'raw."x y"']);
  });

  it('calls the build once, with markers for all bounds', () => {
    let calls = 0;
    const build = buildOf({
      build: (bounds) => {
        calls++;
        return sql`${bounds.start} ${bounds.end} ${bounds.startDate} ${bounds.endDate} ${bounds.startValue} ${bounds.endValue} ${bounds.key}`;
      },
    });
    expect(calls).toBe(1);
    expect(printSql(build)).toBe(':start :end :startDate :endDate :startValue :endValue :key');
  });

  it('flattens nested texts, of any copy of the tag', () => {
    const where = sqlTag`kind = ${'a'} and n = any(${[1, 2]})`;
    const build = buildOf({ build: ({ key }) => sql`select ${key} from src where ${where} and ok = ${true}` });
    expect(build.strings).toHaveLength(build.params.length + 1);
    expect(printSql(build)).toBe("select :key from src where kind = 'a' and n = any('[1,2]') and ok = true");
  });

  it('puts the name of the new rows into a check, and bounds beside it', () => {
    const check = noRows(
      'late',
      ({ rows, end }) => sql`select from ${rows} r where r.at >= ${end} and ${rows} is null`,
    );
    const [compiled] = compile({ checks: [check] }).checks;
    if (compiled?.kind !== 'noRows') throw new Error('the check has another kind');
    expect(printSql(compiled.query)).toBe('select from new_rows r where r.at >= :end and new_rows is null');
  });

  it('names checks for people', () => {
    const checks = [
      notNull(['a']),
      unique(['a', 'b']),
      rowCount({ min: 1 }),
      everyRow('a > 0'),
      everyRow('b', 'b holds'),
    ];
    expect(compile({ checks }).checks).toEqual([
      { kind: 'notNull', name: 'not null: a', columns: ['a'] },
      { kind: 'unique', name: 'unique: a, b', columns: ['a', 'b'] },
      { kind: 'rowCount', name: 'row count: 1..', min: 1, max: null },
      { kind: 'everyRow', name: 'every row: a > 0', condition: 'a > 0' },
      { kind: 'everyRow', name: 'b holds', condition: 'b' },
    ]);
  });
});

describe('a definition that cannot be used is refused by its place', () => {
  test.each<[string, Partial<TableInput>, string]>([
    ['an attack as name', { name: 'fact; drop table src; --' }, 'tables[0].name is "fact; drop table src; --"; write'],
    ['a bad name that it reads', { reads: ['src', 'a.b.c'] }, 'tables[0].reads[1] is "a.b.c"; write "schema.table"'],
    [
      'a build that is text',
      { build: (() => 'select 1') as never },
      'tables[0].build must return SQL made with the sql',
    ],
    ['a build that is nothing', { build: (() => undefined) as never }, 'tables[0].build must return SQL'],
    [
      'C22 a Date in a build',
      { build: () => sql`select ${new Date(0) as never}` },
      'tables[0].build holds a value that cannot be sent to PostgreSQL safely; write a date as text: "2026-03-01"',
    ],
    ['a bound in a literal', { build: ({ start }) => sql`select '${start}' as day` }, 'the 1. value'],
    ['a bound in a comment', { build: ({ start, end }) => sql`select ${start} -- to ${end}` }, 'the 2. value'],
    ['a bound in a dollar quote', { build: ({ key }) => sql`select $q$ ${key} $q$` }, 'inside a literal or a comment'],
    ['a Date in a list', { build: () => sql`select ${[new Date(0)] as never}` }, 'write a date as text: "2026-03-01"'],
    ['an object in a build', { build: () => sql`select ${{ a: 1 } as never}` }, 'use text, numbers, booleans or null'],
    ['undefined in a build', { build: () => sql`select ${undefined as never}` }, 'use text, numbers, booleans or null'],
    [
      'a marker in a list',
      { build: ({ start }) => sql`select ${[start] as never}` },
      'use text, numbers, booleans or null',
    ],
    [
      'a Date in a check',
      { checks: [notNull(['a']), noRows('n', () => sql`select ${new Date(0) as never}`)] },
      'tables[0].checks[1].query holds a value',
    ],
    [
      'a span without a unit',
      { timeouts: { attempt: '5' } },
      'tables[0].timeouts.attempt is "5"; write a span as "30 s"',
    ],
    ['no time at all', { timeouts: { lock: '0 s' } }, 'tables[0].timeouts.lock is "0 s"'],
    ['a word that is no unit', { timeouts: { partition: '1 constructor' } }, 'timeouts.partition is "1 constructor"'],
    [
      'a span of keeping without a unit',
      { keepReplaced: '7' },
      'tables[0].keepReplaced is "7"; write a span as "7 days"',
    ],
    ['a size that is none', { keepReplacedAtMost: 'much' }, 'tables[0].keepReplacedAtMost is "much"; write a size as'],
    ['more than PostgreSQL can count', { timeouts: { attempt: '30 days' } }, 'tables[0].timeouts.attempt is "30 days"'],
  ])('%s', (_, changes, message) => {
    expect(() => compile(changes)).toThrow(ConfigError);
    expect(() => compile(changes)).toThrow(message);
  });

  it('and what is replaced is kept for seven days, unless the definition says otherwise', () => {
    expect(compile({}).keep).toEqual({ forMs: 7 * 86_400_000, atMostBytes: 10 * 1024 ** 3 });
    expect(compile({ keepReplaced: '36 hours', keepReplacedAtMost: '500 MB' }).keep).toEqual({
      forMs: 36 * 3_600_000,
      atMostBytes: 500 * 1024 ** 2,
    });
    expect(compile({ keepReplaced: '0' }).keep).toBeNull();
    expect(compile({ keepReplaced: '0 days' }).keep).toBeNull();
  });

  it('and a partition may take longer than an attempt', () => {
    expect(compile({ timeouts: { attempt: '24 days', partition: '60 days' } }).timeouts).toMatchObject({
      attemptMs: 24 * 86_400_000,
      partitionMs: 60 * 86_400_000,
    });
  });
});

describe('the digest', () => {
  const reference = compile();
  const checked = compile({ checks: [unique(['id']), noRows('n', ({ rows }) => sql`select from ${rows} where x`)] });

  test.each<[string, Partial<TableInput>]>([
    [
      'white space, comments and case',
      {
        build: ({ start, end }) => sql`
          -- the orders
          SELECT day, 'x' AS kind /* constant */
            FROM src WHERE at >= ${start}
             AND at < ${end}`,
      },
    ],
    ['how the name is spelled', { name: '"mart"."fact"' }],
    ['the description', { description: 'new' }],
    ['the owner', { owner: 'someone else' }],
    ['the timeouts', { timeouts: { attempt: '2 hours', partition: '3 hours', lock: '1 s' } }],
    ['how long what is replaced is kept', { keepReplaced: '0', keepReplacedAtMost: '1 MB' }],
    ['defaults that are written out', { whenEmpty: 'fail', cumulative: false, checks: [], reads: [] }],
  ])('does not change with %s', (_, changes) => {
    expect(compile(changes).digest).toBe(reference.digest);
  });

  test.each<[string, Partial<TableInput>]>([
    [
      'a literal',
      { build: ({ start, end }) => sql`select day, 'y' as kind from src where at >= ${start} and at < ${end}` },
    ],
    [
      'a bound',
      { build: ({ start, end }) => sql`select day, 'x' as kind from src where at >= ${end} and at < ${start}` },
    ],
    ['the name', { name: 'mart.other' }],
    ['the partition column', { partitionBy: { column: 'at', grain: 'day', timeZone: 'UTC' } }],
    ['the time zone', { partitionBy: { column: 'day', grain: 'day', timeZone: 'Europe/Berlin' } }],
    ['a check', { checks: [notNull(['day'])] }],
    ['whenEmpty', { whenEmpty: 'empty' }],
    ['cumulative', { cumulative: true }],
    ['the search path', { searchPath: ['raw'] }],
  ])('changes with %s', (_, changes) => {
    expect(compile(changes).digest).not.toBe(reference.digest);
  });

  it('changes with the value of a parameter, and with its type', () => {
    const withValue = (value: string | number) => compile({ build: () => sql`select ${value}` }).digest;
    expect(new Set([withValue('1'), withValue(1), withValue('2')]).size).toBe(3);
  });

  it('changes with the text of a check, and not with its white space', () => {
    const withQuery = (query: Parameters<typeof noRows>[1]) =>
      compile({ checks: [unique(['id']), noRows('n', query)] });
    expect(withQuery(({ rows }) => sql`select from ${rows}   where x -- why`).digest).toBe(checked.digest);
    expect(withQuery(({ rows }) => sql`select from ${rows} where y`).digest).not.toBe(checked.digest);
  });

  it('of the build does not change with what only decides whether rows are accepted', () => {
    const same = compile({ checks: [notNull(['day'])], whenEmpty: 'empty', cumulative: true, name: 'mart.other' });
    expect(buildIdentity(same)).toEqual(buildIdentity(reference));
    expect(buildIdentity(compile({ searchPath: ['raw'] }))).not.toEqual(buildIdentity(reference));
  });
});
