import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Grain, Partitioning } from '../../src/domain/grain.js';
import {
  type ColumnName,
  type CalendarTable,
  calendarTable,
  changed,
  createCalendar,
  versions,
} from '../support/calendar-table.js';
import { type Harness, createHarness } from '../support/harness.js';

/** A part of a range, what it covers as instants, and the rows of half an hour that lie in it. */
interface Case {
  readonly grain: Grain;
  readonly more?: Pick<Partitioning, 'every' | 'anchor'>;
  readonly zone: string;
  readonly from: string;
  readonly to: string;
  readonly covers: readonly [from: string, until: string];
  readonly rows: number;
  readonly keys: number;
  readonly columns: readonly ColumnName[];
}

const newYork = 'America/New_York';
const anyDay = ['date', 'timestamp', 'timestamptz', 'yyyymmdd', 'seconds', 'milliseconds'] as const;
const cases: readonly Case[] = [
  {
    grain: 'hour',
    zone: newYork,
    from: '2024-11-03T05Z',
    to: '2024-11-03T06Z',
    covers: ['2024-11-03T05:00:00Z', '2024-11-03T07:00:00Z'],
    rows: 4,
    keys: 2,
    columns: ['timestamptz', 'seconds', 'milliseconds'],
  },
  {
    grain: 'hour',
    zone: 'Etc/GMT+5',
    from: '2024-11-03T05Z',
    to: '2024-11-03T06Z',
    covers: ['2024-11-03T05:00:00Z', '2024-11-03T07:00:00Z'],
    rows: 4,
    keys: 2,
    columns: ['timestamp'],
  },
  {
    grain: 'hour',
    more: { every: 6 },
    zone: newYork,
    from: '2024-11-03',
    to: '2024-11-03',
    covers: ['2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z'],
    rows: 50,
    keys: 4,
    columns: ['timestamptz'],
  },
  {
    grain: 'day',
    zone: newYork,
    from: '2024-11-03',
    to: '2024-11-03',
    covers: ['2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z'],
    rows: 50,
    keys: 1,
    columns: anyDay,
  },
  {
    grain: 'day',
    more: { every: 7, anchor: '2024-11-01' },
    zone: newYork,
    from: '2024-11-01',
    to: '2024-11-01',
    covers: ['2024-11-01T04:00:00Z', '2024-11-08T05:00:00Z'],
    rows: 338,
    keys: 1,
    columns: anyDay,
  },
  {
    grain: 'week',
    zone: newYork,
    from: '2024-W44',
    to: '2024-W44',
    covers: ['2024-10-28T04:00:00Z', '2024-11-04T05:00:00Z'],
    rows: 338,
    keys: 1,
    columns: anyDay,
  },
  {
    grain: 'month',
    zone: newYork,
    from: '2024-11',
    to: '2024-11',
    covers: ['2024-11-01T04:00:00Z', '2024-12-01T05:00:00Z'],
    rows: 1442,
    keys: 1,
    columns: anyDay,
  },
  {
    grain: 'quarter',
    zone: newYork,
    from: '2024-Q4',
    to: '2024-Q4',
    covers: ['2024-10-01T04:00:00Z', '2025-01-01T05:00:00Z'],
    rows: 4418,
    keys: 1,
    columns: anyDay,
  },
  {
    grain: 'year',
    zone: newYork,
    from: '2024',
    to: '2024',
    covers: ['2024-01-01T05:00:00Z', '2025-01-01T05:00:00Z'],
    rows: 17_568,
    keys: 1,
    columns: anyDay,
  },
];

/** Every case by every column, each with tables of its own: a plain one, and one without any partition yet. */
const all = cases.flatMap((one, i) =>
  one.columns.map((column) => {
    const margin = one.grain === 'year' ? 3 : 10;
    const shift = (instant: string, days: number) => new Date(Date.parse(instant) + days * 86_400_000).toISOString();
    const table: CalendarTable = {
      name: `public.${one.grain}_${column}_${i}`,
      column,
      timeZone: one.zone,
      from: shift(one.covers[0], -margin),
      until: shift(one.covers[1], margin),
    };
    const parts: CalendarTable = { ...table, name: `${table.name}_parts` };
    return { ...one, column, table, parts, partitionBy: { grain: one.grain, ...one.more } };
  }),
);

/** Days on every column; of the other grains, which differ in their bounds alone, one number and one column of time. */
const created = all.filter(({ grain, more, column, columns }) =>
  grain === 'day' && !more ? true : ['timestamptz', 'yyyymmdd'].includes(column) || columns.length === 1,
);

let harness: Harness;
beforeAll(async () => {
  const schema = all.flatMap(({ table, parts }) => [
    createCalendar(table),
    createCalendar(
      parts,
      'partition by range (at)',
      `create table ${parts.name}_default partition of ${parts.name} default`,
    ),
  ]);
  const tables = all.flatMap(({ table, parts, partitionBy }) => [
    calendarTable(table, partitionBy),
    calendarTable(parts, partitionBy),
  ]);
  harness = await createHarness(schema.join('\n'), { tables });
});
afterAll(() => harness.close());

async function run(table: string, { from, to }: Case) {
  const handle = await harness.client.start({ table, from, to });
  return handle.result();
}

/** What a replacement of the range changes, and all that it does. */
const exactly = ({ covers: [from, until], rows }: Case) => ({ from, until, rows, new: rows, gone: [] });

test.each(all)('$grain ($more.every) on $column: replaces exactly its rows', async (one) => {
  const { table, rows, keys } = one;
  const before = await versions(harness.db, table.name);
  expect(await run(table.name, one)).toMatchObject({ partitions: keys, rowsBefore: rows, rowsAfter: rows });
  expect(await changed(harness.db, table.name, before)).toEqual(exactly(one));
});

test.each(created)('$grain ($more.every) on $column: creates its partitions, and replaces them then', async (one) => {
  const { parts, keys } = one;
  const before = await versions(harness.db, parts.name);
  const plan = await harness.client.plan({ table: parts.name, from: one.from, to: one.to });
  expect(plan).toMatchObject({ counts: { create: keys, replace: 0 }, refusals: [] });
  await run(parts.name, one);
  expect(await changed(harness.db, parts.name, before)).toEqual(exactly(one));
  const again = await harness.client.plan({ table: parts.name, from: one.from, to: one.to });
  expect(again).toMatchObject({ counts: { create: 0, replace: keys }, refusals: [] });
  const now = await versions(harness.db, parts.name);
  await run(parts.name, one);
  expect(await changed(harness.db, parts.name, now)).toEqual(exactly(one));
});
