import { describe, expect, it, test } from 'vitest';
import { NOT_BEGUN, NOT_ENDED, type PartitionFacts, decide } from '../../src/domain/planning.js';
import { partitionOf } from '../../src/domain/range.js';
import { type RunOptions, type Selection, selections } from '../../src/domain/request.js';

const BUILD = 'today';
const utc = { column: 'day', grain: 'day', timeZone: 'UTC' } as const;
const there = { oid: 7, fileNode: 7, rowsAbout: 100, bytes: 8192 };
const inPartition = { home: 'partitions', leaf: there } as const;

const partitions = {
  missing: {},
  'with rows, by nobody': { ...inPartition, isEmpty: false },
  'empty, by nobody': { ...inPartition, isEmpty: true },
  'empty, as recorded': { ...inPartition, isEmpty: true, generation: 1, rowsRecorded: 0, buildDigest: BUILD },
  'emptied behind our back': { ...inPartition, isEmpty: true, generation: 1, rowsRecorded: 9, buildDigest: BUILD },
  'by this build': { ...inPartition, isEmpty: false, generation: 1, rowsRecorded: 9, buildDigest: BUILD },
  'by another build': { ...inPartition, isEmpty: false, generation: 1, rowsRecorded: 9, buildDigest: 'old' },
  'by this build, before it ended': {
    ...inPartition,
    isEmpty: false,
    generation: 1,
    buildDigest: BUILD,
    isProvisional: true,
  },
  'failed, never written': { ...inPartition, isEmpty: false, hasFailed: true },
  'failed, and not there': { hasFailed: true },
} satisfies Record<string, Partial<PartitionFacts>>;
type Case = keyof typeof partitions;

function decideOn(facts: Partial<PartitionFacts>, more: Partial<RunOptions> = {}, now = '2024-04-01T00:00:00Z') {
  const nothing = {
    home: 'missing',
    leaf: null,
    obstacle: null,
    isEmpty: null,
    generation: 0,
    rowsRecorded: null,
    buildDigest: null,
  } as const;
  const options: RunOptions = {
    select: 'all',
    exclude: [],
    concurrency: 1,
    publish: 'in-order',
    onFailure: 'stop',
    allowIncomplete: false,
    allowDefinitionChange: false,
    ...more,
  };
  return decide(
    partitionOf(utc, '2024-03-05'),
    { key: '2024-03-05', ...nothing, isProvisional: false, hasFailed: false, ...facts },
    { options, buildDigest: BUILD, now: new Date(now) },
  );
}

const all = Object.keys(partitions) as Case[];
const selected: Record<Selection, readonly Case[]> = {
  all,
  missing: ['missing', 'failed, and not there'],
  'missing-or-empty': ['missing', 'empty, by nobody', 'emptied behind our back', 'failed, and not there'],
  failed: ['failed, never written', 'failed, and not there'],
  outdated: all.filter((one) => !['empty, as recorded', 'emptied behind our back', 'by this build'].includes(one)),
};

describe.each(selections)('select %s', (select) => {
  it.each(all)('a partition that is %s', (name) => {
    const decision = decideOn(partitions[name], { select });
    if (!selected[select].includes(name)) {
      expect(decision).toEqual({ action: 'leave', why: expect.stringMatching(/./) as string });
      return;
    }
    expect(decision).toEqual({ action: 'leaf' in partitions[name] ? 'replace' : 'create' });
  });
});

test.each<[Selection, Case, string]>([
  ['missing', 'by this build', 'exists'],
  ['missing', 'empty, by nobody', 'exists and is empty; select "missing-or-empty" would write it'],
  ['missing-or-empty', 'by this build', 'has rows'],
  ['missing-or-empty', 'empty, as recorded', 'is empty, as a run recorded'],
  ['failed', 'by this build', 'did not fail'],
  ['outdated', 'by this build', 'was built by this build'],
])('select %s says why it leaves a partition alone that is %s', (select, name, why) => {
  expect(decideOn(partitions[name], { select })).toEqual({ action: 'leave', why });
});

describe('the calendar', () => {
  const before = '2024-03-04T23:59:59Z';
  const during = '2024-03-05T12:00:00Z';

  it.each(selections)('C04 a future partition is never written, with select %s and allowIncomplete', (select) => {
    for (const facts of Object.values(partitions)) {
      expect(decideOn(facts, { select, allowIncomplete: true }, before)).toEqual({ action: 'leave', why: NOT_BEGUN });
    }
  });

  it('C04 an unfinished one only where allowed', () => {
    expect(decideOn({}, {}, during)).toEqual({ action: 'leave', why: NOT_ENDED });
    expect(decideOn({}, { allowIncomplete: true }, during)).toEqual({ action: 'create' });
    // Allowing is not asking: the selection counts.
    expect(decideOn({ ...inPartition }, { allowIncomplete: true, select: 'missing' }, during)).toMatchObject({
      action: 'leave',
    });
  });

  it('C04 one that was written before it ended is outdated the next day', () => {
    const decision = decideOn(partitions['by this build, before it ended'], { select: 'outdated' });
    expect(decision).toEqual({ action: 'replace' });
  });
});

it.each(selections)('an excluded key is left alone, with select %s', (select) => {
  for (const facts of Object.values(partitions)) {
    const options = { select, exclude: ['2024-03-04', '2024-03-05'] };
    expect(decideOn(facts, options)).toEqual({ action: 'leave', why: 'excluded by the request' });
  }
});

describe('a table that is not partitioned by the column', () => {
  const table = { home: 'table' } as const;
  test.each<[string, Selection, Partial<PartitionFacts>, string | undefined]>([
    ['has rows', 'all', { isEmpty: null }, undefined],
    ['has no row', 'missing', { isEmpty: true }, undefined],
    ['has no row, as recorded', 'missing', { isEmpty: true, rowsRecorded: 0 }, undefined],
    ['has rows', 'missing', { isEmpty: false }, 'exists'],
    ['has no row', 'missing-or-empty', { isEmpty: true }, undefined],
    [
      'has no row, as recorded',
      'missing-or-empty',
      { isEmpty: true, rowsRecorded: 0, buildDigest: BUILD },
      'is empty, as a run recorded',
    ],
    ['has no row, because an undo took it', 'missing-or-empty', { isEmpty: true, rowsRecorded: 0 }, undefined],
    ['has rows', 'missing-or-empty', { isEmpty: false }, 'has rows'],
  ])('a key that %s, with select %s', (_, select, facts, why) => {
    const expected = why === undefined ? { action: 'replace' } : { action: 'leave', why };
    expect(decideOn({ ...table, ...facts }, { select })).toEqual(expected);
  });
});
