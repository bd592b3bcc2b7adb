import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { ColumnFacts } from '../../src/postgres/catalog.js';
import { columnProblems } from '../../src/postgres/build-columns.js';
import { type Leaf, lowerAndUpper } from '../../src/postgres/leaves.js';
import { matchLeaves } from '../../src/postgres/match-leaves.js';
import { positionOfNumber } from '../../src/postgres/positions.js';
import type { Grain } from '../../src/domain/grain.js';
import { listPartitions } from '../../src/domain/range.js';

const INSTANT = 'timestamp with time zone';
const days = (from: string, to: string, timeZone = 'UTC') =>
  listPartitions({ column: 'day', grain: 'day', timeZone }, from, to);

let oids = 0;
function leaf(lower: string, upper: string): Leaf {
  const oid = ++oids;
  return {
    oid,
    name: `p${oid}`,
    lower,
    upper,
    fileNode: oid,
    rowsAbout: 1,
    bytes: 0,
    isDetaching: false,
    isPartitioned: false,
  };
}
function kinds(
  leaves: readonly Leaf[],
  partitions: ReturnType<typeof days>,
  columnType: 'date' | typeof INSTANT = 'date',
  timeZone = 'UTC',
  grain: Grain = 'day',
) {
  const cut = { partitioning: { column: 'day', grain, timeZone }, columnType };
  return matchLeaves(leaves, partitions, cut).map((match) => {
    if ('leaf' in match) return `${match.kind} ${match.leaf.name}`;
    return match.kind === 'partly' ? `without ${match.gap.lower}/${match.gap.upper}` : match.kind;
  });
}

describe('matchLeaves', () => {
  const wanted = days('2024-03-03', '2024-03-05');

  it('finds a leaf by its bounds', () => {
    const leaves = [leaf('2024-03-03', '2024-03-04'), leaf('2024-03-05', '2024-03-06')];
    const [third, fifth] = leaves.map(({ name }) => name);
    expect(kinds(leaves, wanted)).toEqual([`exact ${third}`, 'missing', `exact ${fifth}`]);
  });

  test.each([
    ['a month around it', '2024-03-01', '2024-04-01', [true, true, true]],
    ['two days', '2024-03-04', '2024-03-06', [false, true, true]],
    ['one that ends where the first begins', '2024-02-01', '2024-03-03', [false, false, false]],
    ['one that begins where the last ends', '2024-03-06', '2024-04-01', [false, false, false]],
    ['one without a lower bound', '-infinity', '2024-03-04', [true, false, false]],
    ['one without an upper bound', '2024-03-05', 'infinity', [false, false, true]],
    ['one without any bound', '-infinity', 'infinity', [true, true, true]],
    ['all before', '-infinity', '2024-03-03', [false, false, false]],
    ['all after', '2024-03-06', 'infinity', [false, false, false]],
  ] as const)('C27 finds a day within %s', (_, lower, upper, overlaps) => {
    const other = leaf(lower, upper);
    const expected = overlaps.map((is) => (is ? `within ${other.name}` : 'missing'));
    expect(kinds([other], wanted)).toEqual(expected);
  });

  it('compares instants of a table by instant, in the zone of the definition', () => {
    const newYork = days('2024-03-09', '2024-03-10', 'America/New_York');
    const leaves = [
      leaf('2024-03-09T05:00:00Z', '2024-03-10T05:00:00Z'),
      leaf('2024-03-10T05:00:00Z', '2024-03-11T05:00:00Z'),
    ];
    // The second was cut by 24 hours, and the day has 23.
    expect(kinds(leaves, newYork, INSTANT, 'America/New_York')).toEqual([
      `exact ${leaves[0]?.name}`,
      `cut ${leaves[1]?.name}`,
    ]);
  });

  it('refuses a bound within a day, and within an hour where hours are counted', () => {
    const [day] = days('2024-03-10', '2024-03-10');
    if (!day) throw new Error('no day');
    const until = leaf('2024-03-09T00:00:00Z', '2024-03-10T00:00:00.500000Z');
    expect(kinds([until], [day], INSTANT)).toEqual([`cut ${until.name}`]);
    const after = leaf('2024-03-11T00:00:00.500000Z', '2024-03-12T00:00:00Z');
    expect(kinds([after], [day], INSTANT)).toEqual(['missing']);
    const hours = listPartitions({ column: 'day', grain: 'hour', timeZone: 'UTC' }, '2024-03-10T00Z', '2024-03-10T01Z');
    const utcDay = leaf('2024-03-10T00:00:00Z', '2024-03-11T00:00:00Z');
    expect(kinds([utcDay], hours, INSTANT, 'UTC', 'hour')).toEqual([`within ${utcDay.name}`, `within ${utcDay.name}`]);
    const half = leaf('2024-03-10T00:30:00Z', '2024-03-11T00:00:00Z');
    expect(kinds([half], hours, INSTANT, 'UTC', 'hour')).toEqual([`cut ${half.name}`, `cut ${half.name}`]);
  });

  it('takes a week within months, also one that two of them hold together', () => {
    const weeks = listPartitions({ column: 'day', grain: 'week', timeZone: 'UTC' }, '2024-W08', '2024-W09');
    const months = [leaf('2024-02-01', '2024-03-01'), leaf('2024-03-01', '2024-04-01')];
    expect(kinds(months, weeks, 'date', 'UTC', 'week')).toEqual([`within ${months[0]?.name}`, 'tiled']);
    expect(kinds(months.slice(0, 1), weeks, 'date', 'UTC', 'week')[1]).toBe('without 2024-03-01/2024-03-04');
  });

  it('says what is missing of a day that smaller ones hold', () => {
    const [day] = days('2024-03-10', '2024-03-10');
    if (!day) throw new Error('no day');
    const hour = (from: number, to: number) => {
      const at = (n: number) => new Date(Date.UTC(2024, 2, 10, n)).toISOString().replace('.000', '');
      return leaf(at(from), at(to));
    };
    expect(kinds([hour(0, 6), hour(6, 24)], [day], INSTANT)).toEqual(['tiled']);
    expect(kinds([hour(0, 6), hour(7, 24)], [day], INSTANT)).toEqual([
      'without 2024-03-10T06:00:00Z/2024-03-10T07:00:00Z',
    ]);
    expect(kinds([hour(3, 24)], [day], INSTANT)).toEqual(['without 2024-03-10T00:00:00Z/2024-03-10T03:00:00Z']);
    expect(kinds([hour(0, 23)], [day], INSTANT)).toEqual(['without 2024-03-10T23:00:00Z/2024-03-11T00:00:00Z']);
  });

  it('agrees with counting days, for any leaves', () => {
    const day = fc.integer({ min: 0, max: 30 });
    const iso = (n: number) => new Date(Date.UTC(2024, 1, 20 + n)).toISOString().slice(0, 10);
    fc.assert(
      fc.property(day, fc.integer({ min: 1, max: 9 }), day, fc.nat({ max: 9 }), (lower, length, first, more) => {
        const one = leaf(iso(lower), iso(lower + length));
        const found = matchLeaves([one], days(iso(first), iso(first + more)), {
          partitioning: { column: 'day', grain: 'day', timeZone: 'UTC' },
          columnType: 'date',
        });
        found.forEach(({ kind }, i) => {
          const at = first + i;
          const isIn = at >= lower && at < lower + length;
          expect(kind).toBe(!isIn ? 'missing' : length === 1 ? 'exact' : 'within');
        });
      }),
    );
  });
});

test.each([
  ['integer as yyyymmdd', '20240331', '2024-03-31'],
  ['integer as yyyymmdd', '20240332', '2024-04-01'],
  ['integer as yyyymmdd', '20240230', '2024-03-01'],
  ['bigint as yyyymmdd', '20240400', '2024-04-01'],
  ['bigint as yyyymmdd', '20241232', '2025-01-01'],
  ['bigint as yyyymmdd', '20241301', '2025-01-01'],
  ['bigint as yyyymmdd', '0', '-infinity'],
  ['bigint as yyyymmdd', 'infinity', 'infinity'],
  ['bigint as epoch-seconds', '1710046800', '2024-03-10T05:00:00Z'],
  ['bigint as epoch-milliseconds', '1710046800500', '2024-03-10T05:00:00.500Z'],
  ['bigint as epoch-milliseconds', '9223372036854775807', 'infinity'],
] as const)('the number of a bound, %s: %s is %s', (columnType, number, position) => {
  expect(positionOfNumber(number, columnType)).toBe(position);
});

it('bounds have the type of the column', () => {
  const [day] = days('2024-03-10', '2024-03-10', 'America/New_York');
  if (!day) throw new Error('no day');
  expect(lowerAndUpper(day, 'date')).toEqual({ lower: '2024-03-10', upper: '2024-03-11' });
  expect(lowerAndUpper(day, INSTANT)).toEqual({ lower: '2024-03-10T05:00:00Z', upper: '2024-03-11T04:00:00Z' });
  const local = { lower: '2024-03-10T00:00:00', upper: '2024-03-11T00:00:00' };
  expect(lowerAndUpper(day, 'timestamp without time zone')).toEqual(local);
  expect(lowerAndUpper(day, 'integer as yyyymmdd')).toEqual({ lower: '20240310', upper: '20240311' });
  expect(lowerAndUpper(day, 'bigint as epoch-seconds')).toEqual({ lower: '1710046800', upper: '1710129600' });
  const milliseconds = { lower: '1710046800000', upper: '1710129600000' };
  expect(lowerAndUpper(day, 'bigint as epoch-milliseconds')).toEqual(milliseconds);
});

describe('columnProblems', () => {
  const column = (name: string, more: Partial<ColumnFacts> = {}): ColumnFacts => ({
    name,
    type: 'text',
    hasValueOfItsOwn: false,
    isGenerated: false,
    isNumbered: false,
    isRequired: false,
    ...more,
  });
  const table = [
    column('day'),
    column('net'),
    column('at', { hasValueOfItsOwn: true }),
    column('twice', { hasValueOfItsOwn: true, isGenerated: true }),
  ];

  test.each<[string, string[], string[]]>([
    ['fit in any order, without those that have a value of their own', ['net', 'day'], []],
    ['fit with a default given', ['day', 'net', 'at'], []],
    ['C18 are one too many', ['day', 'net', 'gross'], ['The build gives a column that the table does not have: gross']],
    ['C18 lack one', ['day'], ['The build does not give a column of the table: net']],
    ['come twice', ['day', 'net', 'net'], ['The build gives a column twice: net']],
    ['are generated', ['day', 'net', 'twice'], ['The build gives a column that the table generates itself: twice']],
    [
      'differ in case',
      ['Day', 'net'],
      [
        'The build gives a column that the table does not have: Day',
        'The build does not give a column of the table: day',
      ],
    ],
  ])('columns that %s', (_, given, problems) => {
    expect(columnProblems(given, table)).toEqual(problems);
  });
});
