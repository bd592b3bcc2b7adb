import { describe, expect, it, test } from 'vitest';
import { copyColumns, copyName, samePartitioning } from '../../src/domain/keep.js';
import { parseSize, printBytes } from '../../src/domain/size.js';
import { type Undoable, decideUndo, describeRefused } from '../../src/domain/undo.js';
import { printSpan } from '../../src/report/figures.js';

const newest = {
  generation: 3,
  workflowId: 'w',
  requestedBy: 'ada',
  committedAt: '2026-03-01T00:00:00.000Z',
  isUndo: false,
};
const own: Undoable = { key: 'k', generation: 3, rowsBefore: 7, kept: 'rows', newest };
const isThere = { home: 'partitions' } as const;
const isMissing = { home: 'missing' } as const;

describe('what an undo does with a partition', () => {
  it.each<[string, Undoable | undefined, { home: 'partitions' | 'missing' }, object]>([
    ['that the run did not write', undefined, isThere, { action: 'leave', why: 'that run did not write it' }],
    ['that it wrote last', own, isThere, { action: 'replace' }],
    [
      'that was put back already',
      { ...own, newest: { ...newest, generation: 4, isUndo: true } },
      isThere,
      { action: 'leave', why: 'was put back already' },
    ],
    [
      'that was written since',
      { ...own, newest: { ...newest, generation: 4 } },
      isThere,
      { action: 'refuse', why: 'was written since by w, started by ada', at: newest.committedAt },
    ],
    [
      'that was written since by what the ledger forgot',
      { ...own, newest: { generation: 9, workflowId: null, requestedBy: null, committedAt: null, isUndo: false } },
      isThere,
      { action: 'refuse', why: 'was written since by a run that is not known any more', at: null },
    ],
    ['of which nothing is kept', { ...own, kept: null }, isThere, { action: 'refuse', at: null }],
    ['that is gone, with rows', own, isMissing, { action: 'create' }],
    ['that is gone, and had none', { ...own, rowsBefore: 0 }, isMissing, { action: 'leave' }],
    ['that is gone, of which changes are kept', { ...own, kept: 'differences' }, isMissing, { action: 'refuse' }],
  ])('%s', (_, undoable, facts, decision) => {
    expect(decideUndo(undoable, facts)).toMatchObject(decision);
  });

  it('names each reason once, with its keys and times, and not more than twenty keys', () => {
    const since = (key: string, at: string) => ({ key, action: 'refuse', why: 'was written since by w', at }) as const;
    const keys = Array.from({ length: 22 }, (_, i) => `k${i + 1}`);
    expect(describeRefused(keys.map((key, i) => since(key, `2026-01-${i + 10}`)))).toEqual([
      `${keys.slice(0, 20).join(', ')} and 2 more: was written since by w, from 2026-01-10 to 2026-01-31; undo that first, or leave it out (request.from, request.to)`,
    ]);
    expect(describeRefused([since('k1', '2026-01-10')])).toEqual([
      expect.stringContaining('by w, at 2026-01-10; undo'),
    ]);
    expect(describeRefused([])).toEqual([]);
  });
});

describe('names of a copy', () => {
  it('are of the plan, and its own columns are none of the table', () => {
    expect(copyName('0F8FAD5B-d9cb-469f-a165-70867728950e')).toBe('kept_0f8fad5bd9cb469fa16570867728950e');
    expect(copyColumns(['day', 'id'])).toEqual({ key: 'backfill_key', isNew: 'backfill_is_new' });
    const taken = ['backfill_key', 'backfill_key_', 'backfill_is_new'];
    expect(copyColumns(taken)).toEqual({ key: 'backfill_key__', isNew: 'backfill_is_new_' });
  });
});

test('a partitioning is the same however its defaults are written', () => {
  const day = { column: 'day', grain: 'day', timeZone: 'UTC' } as const;
  expect(samePartitioning(day, { timeZone: 'UTC', every: 1, grain: 'day', column: 'day' })).toBe(true);
  expect(samePartitioning(day, { ...day, timeZone: 'Europe/Berlin' })).toBe(false);
  expect(samePartitioning(day, { ...day, every: 7 })).toBe(false);
  expect(samePartitioning(day, { ...day, column: 'at' })).toBe(false);
});

describe('sizes and spans', () => {
  it.each([
    ['10 GB', 10 * 1024 ** 3],
    ['1.5kB', 1536],
    ['500 mb', 500 * 1024 ** 2],
    ['0 B', 0],
    ['10', undefined],
    ['10 constructor', undefined],
    ['-1 GB', undefined],
    ['', undefined],
  ])('%s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
    if (bytes !== undefined && Number.isInteger(bytes / 1024)) expect(parseSize(printBytes(bytes))).toBe(bytes);
  });

  it.each([
    [7 * 86_400_000, '7 days'],
    [86_400_000, '1 day'],
    [36 * 3_600_000, '36 hours'],
    [1500, '1,500 milliseconds'],
  ])('%i ms', (ms, text) => {
    expect(printSpan(ms)).toBe(text);
  });
});
