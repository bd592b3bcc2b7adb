import { expect, it, test } from 'vitest';
import { type PlanBasis, type PlannedState, findDrift } from '../../src/domain/drift.js';

const third: PlannedState = { key: '2024-03-03', action: 'replace', generation: 2, leafOid: 30, leafFileNode: 31 };
const fourth: PlannedState = { key: '2024-03-04', action: 'create', generation: 0, leafOid: null, leafFileNode: null };
const planned: PlanBasis = {
  definitionDigest: 'definition',
  buildDigest: 'build',
  shape: 'table 7\nRANGE (day)\nday date not null',
  partitions: [third, fourth],
};

/** The drift where one of the two partitions has changed; `null` where it is gone. */
function partitionDrift(change: Partial<PlannedState> | null, of = third): string[] {
  const now = planned.partitions.flatMap((one) =>
    one !== of ? [one] : change === null ? [] : [{ ...one, ...change }],
  );
  return findDrift(planned, { ...planned, partitions: now });
}

it('is nothing where nothing has changed', () => {
  expect(findDrift(planned, structuredClone(planned))).toEqual([]);
});

it('does not see partitions that the plan does not write', () => {
  const other = { ...third, key: '2024-03-09', generation: 99 };
  expect(findDrift(planned, { ...planned, partitions: [other, fourth, third] })).toEqual([]);
});

test.each<[string, Partial<PlanBasis>, string[]]>([
  ['the definition', { definitionDigest: 'other', buildDigest: 'other' }, ['the definition of the table']],
  ['what the build calls', { buildDigest: 'other' }, ['a view or function that the build uses']],
])('names %s', (_, change, drift) => {
  expect(findDrift(planned, { ...planned, ...change })).toEqual(drift);
});

test('C25 names the column that came', () => {
  const now = { ...planned, shape: `${planned.shape}\nfee numeric` };
  expect(findDrift(planned, now)).toEqual(['the table itself (new: fee numeric)']);
});

test('C25 names both forms of a column that was altered', () => {
  const now = { ...planned, shape: planned.shape.replace('date not null', 'date') };
  expect(findDrift(planned, now)).toEqual(['the table itself (no longer: day date not null; new: day date)']);
});

test.each<[string, Partial<PlannedState> | null, string]>([
  ['was written', { generation: 3 }, '2024-03-03: written since (generation 2 → 3)'],
  ['was dropped', { action: 'create', leafOid: null, leafFileNode: null }, '2024-03-03: its partition is gone'],
  ['was swapped', { leafOid: 99 }, '2024-03-03: its partition is another table, or was rewritten'],
  ['was truncated', { leafFileNode: 99 }, '2024-03-03: its partition is another table, or was rewritten'],
  ['is none any more', null, '2024-03-03: is no partition any more'],
])('C25 names a partition that %s', (_, change, drift) => {
  expect(partitionDrift(change)).toEqual([drift]);
});

test('C25 names a partition that was created', () => {
  expect(partitionDrift({ action: 'replace', leafOid: 40, leafFileNode: 41 }, fourth)).toEqual([
    '2024-03-04: has a partition now',
  ]);
});

it('lists everything at once, in the order of the plan', () => {
  const partitions = [
    { ...fourth, generation: 1 },
    { ...third, generation: 3 },
  ];
  const drift = findDrift(planned, { definitionDigest: 'x', buildDigest: 'x', shape: '', partitions });
  expect(drift.map((line) => line.slice(0, 10))).toEqual(['the defini', 'the table ', '2024-03-03', '2024-03-04']);
});
