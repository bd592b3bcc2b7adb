import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { ColumnFacts } from '../../src/postgres/catalog.js';
import { columnProblems } from '../../src/postgres/build-columns.js';
import { type Leaf, lowerAndUpper, matchLeaves } from '../../src/postgres/leaves.js';
import { listPartitions } from '../../src/domain/range.js';

const INSTANT = 'timestamp with time zone';
const days = (from: string, to: string, timeZone = 'UTC') =>
  listPartitions({ column: 'day', grain: 'day', timeZone }, from, to);

let oids = 0;
function leaf(lower: string, upper: string): Leaf {
  const oid = ++oids;
  return { oid, name: `p${oid}`, lower, upper, fileNode: oid, rowsAbout: 1, bytes: 0, isDetaching: false };
}
function kinds(leaves: readonly Leaf[], partitions: ReturnType<typeof days>, type: 'date' | typeof INSTANT = 'date') {
  return matchLeaves(leaves, partitions, type).map((match) =>
    'leaf' in match ? `${match.kind} ${match.leaf.name}` : match.kind,
  );
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
  ] as const)('C27 sees the overlap with %s', (_, lower, upper, overlaps) => {
    const other = leaf(lower, upper);
    const expected = overlaps.map((is) => (is ? `other-bounds ${other.name}` : 'missing'));
    expect(kinds([other], wanted)).toEqual(expected);
  });

  it('compares instants of a table by instant, in the zone of the definition', () => {
    const newYork = days('2024-03-09', '2024-03-10', 'America/New_York');
    const leaves = [
      leaf('2024-03-09T05:00:00Z', '2024-03-10T05:00:00Z'),
      leaf('2024-03-10T05:00:00Z', '2024-03-11T05:00:00Z'),
    ];
    // The second was cut by 24 hours, and the day has 23.
    expect(kinds(leaves, newYork, INSTANT)).toEqual([`exact ${leaves[0]?.name}`, `other-bounds ${leaves[1]?.name}`]);
  });

  it('compares instants with a fraction of a second as instants, not as text', () => {
    const [day] = days('2024-03-10', '2024-03-10');
    if (!day) throw new Error('no day');
    const until = leaf('2024-03-09T00:00:00Z', '2024-03-10T00:00:00.500000Z');
    expect(kinds([until], [day], INSTANT)).toEqual([`other-bounds ${until.name}`]);
    const after = leaf('2024-03-11T00:00:00.500000Z', '2024-03-12T00:00:00Z');
    expect(kinds([after], [day], INSTANT)).toEqual(['missing']);
  });

  it('agrees with counting days, for any leaves', () => {
    const day = fc.integer({ min: 0, max: 30 });
    const iso = (n: number) => new Date(Date.UTC(2024, 1, 20 + n)).toISOString().slice(0, 10);
    fc.assert(
      fc.property(day, fc.integer({ min: 1, max: 9 }), day, fc.nat({ max: 9 }), (lower, length, first, more) => {
        const one = leaf(iso(lower), iso(lower + length));
        const found = matchLeaves([one], days(iso(first), iso(first + more)), 'date');
        found.forEach(({ kind }, i) => {
          const at = first + i;
          const isIn = at >= lower && at < lower + length;
          expect(kind).toBe(!isIn ? 'missing' : length === 1 ? 'exact' : 'other-bounds');
        });
      }),
    );
  });
});

it('bounds are dates or instants, as the column is', () => {
  const [day] = days('2024-03-10', '2024-03-10', 'America/New_York');
  if (!day) throw new Error('no day');
  expect(lowerAndUpper(day, 'date')).toEqual({ lower: '2024-03-10', upper: '2024-03-11' });
  expect(lowerAndUpper(day, INSTANT)).toEqual({ lower: '2024-03-10T05:00:00Z', upper: '2024-03-11T04:00:00Z' });
});

describe('columnProblems', () => {
  const column = (name: string, more: Partial<ColumnFacts> = {}): ColumnFacts => ({
    name,
    type: 'text',
    hasValueOfItsOwn: false,
    isGenerated: false,
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
