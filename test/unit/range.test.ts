import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { InvalidRequest } from '../../src/domain/failure.js';
import { completeness, isTimeZone, listPartitions, partitionOf } from '../../src/domain/range.js';
import { zones } from '../support/zones.js';

const DAY_MS = 86_400_000;
const inZone = (timeZone: string) => ({ column: 'day', grain: 'day', timeZone }) as const;

/** The local date of an instant by the platform's own calendar, which shares no code with the product. */
function localDateIn(timeZone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return (instant) => format.format(instant);
}

const isoDay = (epochDay: number) => new Date(epochDay * DAY_MS).toISOString().slice(0, 10);
/** 1970 to 2100. */
const epochDay = fc.integer({ min: 0, max: 47_846 });

describe('the partitions of a range', () => {
  it.each(zones)('are disjoint, ascending, and cover exactly the range in %s', (timeZone) => {
    const localDate = localDateIn(timeZone);
    fc.assert(
      fc.property(epochDay, fc.integer({ min: 0, max: 40 }), (first, more) => {
        const [from, to] = [isoDay(first), isoDay(first + more)];
        const partitions = listPartitions(inZone(timeZone), from, to);
        const expected = Array.from({ length: more + 1 }, (_, i) => isoDay(first + i));
        expect(partitions.map(({ key }) => key)).toEqual(
          timeZone === 'Pacific/Apia' ? expected.filter((day) => day !== '2011-12-30') : expected,
        );
        partitions.forEach(({ key, start, end }, i) => {
          const [startMs, endMs] = [Date.parse(start), Date.parse(end)];
          expect(startMs).toBeLessThan(endMs);
          // The first and the last moment are of the day, and the moment before the first is not.
          expect([localDate(startMs), localDate(endMs - 1)]).toEqual([key, key]);
          expect(localDate(startMs - 1) < key).toBe(true);
          // No gap and no overlap.
          expect(partitions[i + 1]?.start ?? end).toBe(end);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('have the bounds that the calendar says, also where midnight does not exist or comes twice', () => {
    const bounds = (timeZone: string, key: string) => {
      const { start, end, startDate, endDate } = partitionOf(inZone(timeZone), key);
      const hours = (Date.parse(end) - Date.parse(start)) / 3_600_000;
      return { start, end, hours, dates: `${startDate}/${endDate}` };
    };
    expect(bounds('America/New_York', '2024-03-10')).toEqual({
      start: '2024-03-10T05:00:00Z',
      end: '2024-03-11T04:00:00Z',
      hours: 23,
      dates: '2024-03-10/2024-03-11',
    });
    expect(bounds('America/New_York', '2024-11-03')).toMatchObject({
      start: '2024-11-03T04:00:00Z',
      end: '2024-11-04T05:00:00Z',
    });
    // 00:00 is skipped.
    expect(bounds('America/Havana', '2024-03-10')).toMatchObject({ start: '2024-03-10T05:00:00Z', hours: 23 });
    expect(bounds('America/Sao_Paulo', '2018-11-04')).toMatchObject({ start: '2018-11-04T03:00:00Z', hours: 23 });
    expect(bounds('Africa/Cairo', '2024-04-26')).toMatchObject({ start: '2024-04-25T22:00:00Z', hours: 23 });
    // 00:00 comes twice: the day begins at the first.
    expect(bounds('America/Havana', '2024-11-03')).toMatchObject({ start: '2024-11-03T04:00:00Z', hours: 25 });
    expect(bounds('Asia/Kathmandu', '2024-03-10')).toMatchObject({ start: '2024-03-09T18:15:00Z', hours: 24 });
  });

  it('do not hold a day that never was', () => {
    const apia = inZone('Pacific/Apia');
    const partitions = listPartitions(apia, '2011-12-29', '2011-12-31');
    expect(partitions.map(({ key }) => key)).toEqual(['2011-12-29', '2011-12-31']);
    expect(partitions[0]?.end).toBe(partitions[1]?.start);
    // The dates of the rows, too: nothing lies between them.
    expect(partitions[0]).toMatchObject({ startDate: '2011-12-29', endDate: '2011-12-31' });
    expect(() => partitionOf(apia, '2011-12-30', 'request.exclude[0]')).toThrow(
      new InvalidRequest('"2011-12-30" does not exist in Pacific/Apia (request.exclude[0])'),
    );
    expect(partitionOf(inZone('UTC'), '2011-12-30').key).toBe('2011-12-30');
  });

  test.each([
    ['2024-02-27', '2024-03-01', 4],
    ['2023-02-27', '2023-03-01', 3],
    ['2000-02-27', '2000-03-01', 4],
    ['2100-02-27', '2100-03-01', 3],
  ])('C03 %s..%s counts leap days right', (from, to, count) => {
    expect(listPartitions(inZone('UTC'), from, to)).toHaveLength(count);
  });

  test.each(['2023-02-29', '2024-02-30', '2024-13-01', '2024-3-1', '01/03/2024', '', '0000-01-01', '2024-03-01T00:00'])(
    'C03 the day %j is refused by its value',
    (day) => {
      for (const field of ['request.from', 'request.to']) {
        const [from, to] = field === 'request.from' ? [day, '2024-03-02'] : ['2024-03-02', day];
        const refused = `${JSON.stringify(day)} is not a day as YYYY-MM-DD (${field})`;
        expect(() => listPartitions(inZone('UTC'), from, to)).toThrow(refused);
      }
    },
  );

  test.each([
    ['2024-3-1', '2024-03-01'],
    ['2024/03/01', '2024-03-01'],
    ['20240301', '2024-03-01'],
    ['2024-03-01T00:00', '2024-03-01'],
    ['2024-02-30', '2024-02-29'],
  ])('C03 %s: did you mean %s?', (day, meant) => {
    expect(() => listPartitions(inZone('UTC'), day, '2024-03-02')).toThrow(`; did you mean ${meant}?`);
  });

  test.each(['2024-13-01', '01/03/2024', '', '0000-01-01', 'yesterday'])('C03 of %j nothing can be guessed', (day) => {
    expect(() => listPartitions(inZone('UTC'), day, '2024-03-02')).toThrow(/\(request\.from\)$/);
  });

  test.each([[null], [20240301], [undefined], [['2024-03-01']]])('C03 %j is no day', (day) => {
    expect(() => listPartitions(inZone('UTC'), day as never, '2024-03-02')).toThrow(/is not a day .*request\.from/);
  });

  test('C03 a reversed range is refused', () => {
    expect(() => listPartitions(inZone('UTC'), '2024-03-05', '2024-03-04')).toThrow(
      new InvalidRequest('Range end 2024-03-04 is before its start 2024-03-05 (request.to); both ends are included'),
    );
  });

  it('are not more than asked for', () => {
    expect(listPartitions(inZone('UTC'), '2024-03-01', '2024-03-10', 10)).toHaveLength(10);
    expect(() => listPartitions(inZone('UTC'), '2024-03-01', '2024-03-11', 10)).toThrow(/more than 10 partitions/);
  });
});

it('a partition is complete from its last moment on', () => {
  const day = partitionOf(inZone('America/New_York'), '2024-03-10');
  const at = (instant: string) => completeness(day, new Date(instant));
  expect(at('2024-03-10T04:59:59.999Z')).toBe('future');
  expect(at('2024-03-10T05:00:00.000Z')).toBe('unfinished');
  expect(at('2024-03-11T03:59:59.999Z')).toBe('unfinished');
  expect(at('2024-03-11T04:00:00.000Z')).toBe('complete');
});

test('C20 a time zone is an IANA name and nothing else', () => {
  for (const zone of [...zones, 'Etc/GMT+5', 'America/Argentina/Buenos_Aires']) expect(isTimeZone(zone)).toBe(true);
  const attacks = [
    "UTC'; drop table src; --",
    'UTC;',
    '+01:00',
    '',
    ' UTC',
    'UTC\n',
    'Mars/Olympus',
    'Europe/Berlin\0',
  ];
  for (const zone of attacks) expect(isTimeZone(zone), JSON.stringify(zone)).toBe(false);
});
