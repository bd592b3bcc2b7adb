import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type Grain, type Partitioning, grains } from '../../src/domain/grain.js';
import { type Partition, listPartitions, partitionHolding, partitionOf, resolveRange } from '../../src/domain/range.js';
import { zones } from '../support/zones.js';

const HOUR_MS = 3_600_000;
const cut = (grain: Grain, timeZone = 'UTC', more: Partial<Partitioning> = {}): Partitioning => ({
  column: 'at',
  grain,
  timeZone,
  ...more,
});

/** Lengths for which a few hundred partitions are a range of any part of the years 1970 to 2100. */
const days = { hour: 4, day: 100, week: 500, month: 1500, quarter: 4000, year: 12_000 } satisfies Record<Grain, number>;
const multiples = [
  cut('hour', 'UTC', { every: 6 }),
  cut('day', 'UTC', { every: 7 }),
  cut('day', 'UTC', { every: 10, anchor: '2026-03-01' }),
  cut('week', 'UTC', { every: 2 }),
  cut('month', 'UTC', { every: 5 }),
  cut('year', 'UTC', { every: 10 }),
];
const all = [...grains.map((grain) => cut(grain)), ...multiples];
const nasty = all.flatMap((partitioning) => zones.map((timeZone) => ({ ...partitioning, timeZone })));
const isoDay = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);

/** The partitions of some days, widened to whole ones. */
function around(partitioning: Partitioning, first: number): readonly Partition[] {
  const [from, to] = [isoDay(first), isoDay(first + days[partitioning.grain])];
  return resolveRange(partitioning, { from, to, widen: true }).partitions;
}

test.each(nasty)('$every $grain in $timeZone: tile the range, in order of key and time', (partitioning) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 47_000 }), (first) => {
      const partitions = around(partitioning, first);
      const keys = partitions.map(({ key }) => key);
      expect(keys).toEqual([...new Set(keys)].sort());
      partitions.forEach((partition, i) => {
        expect(Date.parse(partition.start)).toBeLessThan(Date.parse(partition.end));
        expect(partitions[i + 1]?.start ?? partition.end).toBe(partition.end);
        expect(partitions[i + 1]?.startDate ?? partition.endDate).toBe(partition.endDate);
        expect(partitions[i + 1]?.startLocal ?? partition.endLocal).toBe(partition.endLocal);
      });
    }),
    { numRuns: 15 },
  );
});

test.each(nasty)(
  '$every $grain in $timeZone: a key is that of its bounds, and of every moment within',
  (partitioning) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 47_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (first, part) => {
          const partitions = around(partitioning, first);
          const partition = partitions[Math.floor(partitions.length * part)];
          if (!partition) throw new Error('no partition');
          expect(partitionOf(partitioning, partition.key)).toEqual(partition);
          const [start, end] = [Date.parse(partition.start), Date.parse(partition.end)];
          for (const moment of [start, Math.floor(start + (end - start) * part), end - 1]) {
            expect(partitionHolding(partitioning, new Date(moment).toISOString())).toEqual(partition);
          }
        },
      ),
      { numRuns: 15 },
    );
  },
);

/** `start..end hours` of every partition of a day or two. */
function hoursOf(timeZone: string, from: string, to = from, more: Partial<Partitioning> = {}) {
  return listPartitions(cut('hour', timeZone, more), from, to).map(({ key, start, end }) => {
    const hours = (Date.parse(end) - Date.parse(start)) / HOUR_MS;
    return hours === 1 ? key : `${key} ${hours}`;
  });
}

describe('an hour', () => {
  it('is told from the other one of a night that has it twice', () => {
    const hours = hoursOf('America/New_York', '2024-11-03');
    expect(hours).toHaveLength(25);
    expect(hours.slice(0, 4)).toEqual(['2024-11-03T04Z', '2024-11-03T05Z', '2024-11-03T06Z', '2024-11-03T07Z']);
    const twice = ['2024-11-03T05Z', '2024-11-03T06Z'].map((key) => partitionOf(cut('hour', 'America/New_York'), key));
    expect(twice.map(({ startLocal }) => startLocal)).toEqual(['2024-11-03T01:00:00', '2024-11-03T01:00:00']);
    expect(hoursOf('America/New_York', '2024-03-10')).toHaveLength(23);
    expect(hoursOf('America/Havana', '2024-11-03').slice(0, 2)).toEqual(['2024-11-03T04Z', '2024-11-03T05Z']);
  });

  it('is half as long where the clock changes by half an hour', () => {
    const autumn = hoursOf('Australia/Lord_Howe', '2024-04-07');
    expect(autumn.slice(0, 5)).toEqual([
      '2024-04-06T13:00Z',
      '2024-04-06T14:00Z',
      '2024-04-06T15:00Z 0.5',
      '2024-04-06T15:30Z',
      '2024-04-06T16:30Z',
    ]);
    expect(hoursOf('Australia/Lord_Howe', '2024-10-06').slice(1, 4)).toEqual([
      '2024-10-05T14:30Z',
      '2024-10-05T15:30Z 0.5',
      '2024-10-05T16:00Z',
    ]);
  });

  it('begins when local clocks show it full', () => {
    expect(hoursOf('Asia/Kathmandu', '2024-03-10').slice(0, 2)).toEqual(['2024-03-09T18:15Z', '2024-03-09T19:15Z']);
    expect(() => partitionOf(cut('hour', 'Asia/Kathmandu'), '2024-03-09T18Z')).toThrow(
      'did you mean 2024-03-09T17:15Z?',
    );
    expect(() => partitionOf(cut('hour'), '2024-03-09T18:00Z')).toThrow('did you mean 2024-03-09T18Z?');
    expect(() => partitionOf(cut('hour'), '2024-03-09 18:20')).toThrow('did you mean 2024-03-09T18Z?');
  });

  it('of several keeps to the face of the clock', () => {
    const every = { every: 6 };
    expect(hoursOf('America/New_York', '2024-11-03', '2024-11-03', every)).toEqual([
      '2024-11-03T04Z 7',
      '2024-11-03T11Z 6',
      '2024-11-03T17Z 6',
      '2024-11-03T23Z 6',
    ]);
    expect(hoursOf('America/New_York', '2024-03-10', '2024-03-10', every)[0]).toBe('2024-03-10T05Z 5');
    expect(() => partitionOf(cut('hour', 'UTC', every), '2024-03-10T05Z')).toThrow(
      'is not the first hour of 6 hours as YYYY-MM-DDThhZ',
    );
  });

  it('is not the hour of a day that never was', () => {
    expect(hoursOf('Pacific/Apia', '2011-12-29', '2011-12-31')).toHaveLength(48);
    expect(hoursOf('Pacific/Apia', '2011-12-30')).toEqual([]);
  });
});

const bounds = (partitioning: Partitioning, key: string) => {
  const { start, end, startDate, endDate } = partitionOf(partitioning, key);
  return { start, end, dates: `${startDate}/${endDate}` };
};

test.each<[Partitioning, string, string, string]>([
  [cut('week'), '2026-W09', '2026-02-23', '2026-03-02'],
  [cut('week'), '2026-W01', '2025-12-29', '2026-01-05'],
  [cut('week'), '2026-W53', '2026-12-28', '2027-01-04'],
  [cut('month'), '2024-02', '2024-02-01', '2024-03-01'],
  [cut('quarter'), '2026-Q4', '2026-10-01', '2027-01-01'],
  [cut('year'), '2026', '2026-01-01', '2027-01-01'],
  [cut('day', 'UTC', { every: 7 }), '2026-03-02', '2026-03-02', '2026-03-09'],
  [cut('day', 'UTC', { every: 7, anchor: '2026-03-04' }), '2026-03-04', '2026-03-04', '2026-03-11'],
  [cut('month', 'UTC', { every: 2 }), '2026-03', '2026-03-01', '2026-05-01'],
  [cut('year', 'UTC', { every: 10 }), '2020', '2020-01-01', '2030-01-01'],
])('%o %s is [%s, %s)', (partitioning, key, start, end) => {
  expect(bounds(partitioning, key)).toEqual({
    start: `${start}T00:00:00Z`,
    end: `${end}T00:00:00Z`,
    dates: `${start}/${end}`,
  });
});

test('longer partitions begin with the first moment of their first day', () => {
  expect(bounds(cut('month', 'America/New_York'), '2024-03')).toMatchObject({
    start: '2024-03-01T05:00:00Z',
    end: '2024-04-01T04:00:00Z',
  });
  expect(bounds(cut('week', 'America/Sao_Paulo'), '2018-W44')).toMatchObject({ start: '2018-10-29T03:00:00Z' });
  expect(bounds(cut('month', 'Pacific/Apia'), '2011-12')).toMatchObject({ end: '2011-12-31T10:00:00Z' });
  expect(bounds(cut('day', 'Africa/Casablanca'), '2024-03-10')).toMatchObject({ start: '2024-03-09T23:00:00Z' });
});

test.each<[Grain, string, string]>([
  ['week', '2026-W9', '2026-W09'],
  ['week', '2026W09', '2026-W09'],
  ['week', '2026-3-1', '2026-W09'],
  ['month', '2026-3', '2026-03'],
  ['month', '202603', '2026-03'],
  ['quarter', '2026q2', '2026-Q2'],
  ['year', '2026-3-1', '2026'],
])('of %s, %s: did you mean %s?', (grain, text, meant) => {
  expect(() => partitionOf(cut(grain), text)).toThrow(`; did you mean ${meant}?`);
});

test.each<[Grain, string]>([
  ['week', '2025-W53'],
  ['week', '2026-W00'],
  ['month', '2026-13'],
  ['month', '0000-01'],
  ['quarter', '2026-Q5'],
  ['quarter', '2026-Q0'],
  ['year', '26'],
  ['hour', '2026-03-01T24Z'],
  ['hour', '2026-02-30T01Z'],
])('of %s there is no %s', (grain, text) => {
  expect(() => partitionOf(cut(grain), text)).toThrow(`${JSON.stringify(text)} is not a`);
});

describe('a range by dates', () => {
  it('is all hours of its days, in the zone', () => {
    const { from, to, partitions, widened } = resolveRange(cut('hour', 'America/New_York'), {
      from: '2024-11-03',
      to: '2024-11-03',
    });
    expect({ from, to, widened }).toEqual({ from: '2024-11-03T04Z', to: '2024-11-04T04Z', widened: null });
    expect(partitions).toHaveLength(25);
  });

  it('that begins and ends with partitions is theirs', () => {
    const range = resolveRange(cut('month'), { from: '2026-03-01', to: '2026-04-30' });
    expect(range).toMatchObject({ from: '2026-03', to: '2026-04', widened: null });
  });

  it('that cuts one is refused, or widened if asked to', () => {
    const request = { from: '2026-03-10', to: '2026-04-29' };
    expect(() => resolveRange(cut('month'), request)).toThrow(
      '2026-03-10 begins within 2026-03, which is [2026-03-01, 2026-04-01) (request.from); 2026-04-29 ends within 2026-04, which is [2026-04-01, 2026-05-01) (request.to). A partition is written as a whole: widen the range to 2026-03 to 2026-04, or set request.widen',
    );
    expect(resolveRange(cut('month'), { ...request, widen: true })).toMatchObject({
      from: '2026-03',
      to: '2026-04',
      widened: '2026-03-10 to 2026-04-29 widened to 2026-03 to 2026-04',
    });
  });

  it('is that of the units of a multiple, too', () => {
    const everyWeek = cut('day', 'UTC', { every: 7 });
    expect(resolveRange(everyWeek, { from: '2026-03-02', to: '2026-03-15' })).toMatchObject({ to: '2026-03-09' });
    expect(() => resolveRange(everyWeek, { from: '2026-03-04', to: '2026-03-15' })).toThrow('2026-03-04 begins within');
  });
});
