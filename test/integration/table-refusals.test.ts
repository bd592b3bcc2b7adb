import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Partitioning } from '../../src/domain/grain.js';
import { type CalendarTable, calendarTable, createCalendar } from '../support/calendar-table.js';
import { type Harness, createHarness } from '../support/harness.js';

const rows = { from: '2024-03-01T00:00:00Z', until: '2024-03-08T00:00:00Z' };
const dates = { ...rows, column: 'date', timeZone: 'UTC' } as const;
const instants = { ...dates, column: 'timestamptz' } as const;
const smaller: CalendarTable = { ...instants, name: 'public.smaller' };
const shifted: CalendarTable = { ...instants, timeZone: 'America/New_York', name: 'public.shifted' };
const larger: CalendarTable = { ...dates, name: 'public.larger' };
const sub: CalendarTable = { ...dates, name: 'public.sub' };
const mixed: CalendarTable = { ...dates, name: 'public.mixed' };

const partition = (of: string, name: string, from: string, to: string, more = '') =>
  `create table ${of}_${name} partition of ${of} for values from ('${from}') to ('${to}') ${more}`;
const byRange = 'partition by range (at)';
const utcDays = [1, 2, 3, 4, 5, 6, 7].map((n) =>
  partition('shifted', `${n}`, `2024-03-0${n} 00:00Z`, `2024-03-0${n + 1} 00:00Z`),
);

let harness: Harness;
beforeAll(async () => {
  const schema = [
    createCalendar(
      smaller,
      byRange,
      `${partition('smaller', 'rest', '2024-03-01 00:00Z', '2024-03-12 00:00Z')};
       ${partition('smaller', 'night', '2024-03-12 00:00Z', '2024-03-12 10:00Z')};
       ${partition('smaller', 'evening', '2024-03-12 12:00Z', '2024-03-13 00:00Z')}`,
    ),
    createCalendar(shifted, byRange, utcDays.join(';')),
    createCalendar(larger, byRange, partition('larger', 'march', '2024-03-01', '2024-04-01')),
    createCalendar(
      sub,
      byRange,
      `${partition('sub', 'march', '2024-03-01', '2024-04-01', 'partition by list (value)')};
       create table sub_march_d partition of sub_march default`,
    ),
    createCalendar(
      mixed,
      byRange,
      `${partition('mixed', 'march', '2024-03-01', '2024-04-01')};
       ${partition('mixed', 'third', '2024-04-03', '2024-04-04')}`,
    ),
    `create table texts (at text, id bigint, value text)`,
    `create table times (at timestamp(3), id bigint, value text); create table times_src as table times`,
    `create table numbers (at integer, id bigint, value text); create table numbers_src as table numbers`,
  ];
  const tables = [smaller, shifted, larger, mixed].map((table) => calendarTable(table, { grain: 'day' }));
  harness = await createHarness(schema.join(';\n'), { tables: [...tables, calendarTable(sub, { grain: 'month' })] });
});
afterAll(() => harness.close());

async function run(table: string, from: string, to: string) {
  const handle = await harness.client.start({ table, from, to });
  return handle.result();
}

test('a gap in what holds a day is told by its bounds', async () => {
  const plan = await harness.client.plan({ table: 'public.smaller', from: '2024-03-12', to: '2024-03-12' });
  expect(plan.refusals).toEqual([
    '2024-03-12, day, has partitions of public.smaller for a part only: nothing holds [2024-03-12T10:00:00Z, 2024-03-12T12:00:00Z); create that first',
  ]);
});

test('days that were cut in another zone are refused, both bounds printed', async () => {
  const plan = await harness.client.plan({ table: shifted.name, from: '2024-03-05', to: '2024-03-05' });
  expect(plan.refusals).toEqual([
    "public.shifted_5 holds [2024-03-05T00:00:00Z, 2024-03-06T00:00:00Z), and 2024-03-05 is [2024-03-05T05:00:00Z, 2024-03-06T05:00:00Z): a bound that is no beginning of a day in America/New_York is not the definition's",
  ]);
  await expect(run(shifted.name, '2024-03-05', '2024-03-05')).rejects.toMatchObject({ type: 'InvalidRequest' });
});

test('a day is not created among months, and the month to create is told', async () => {
  const request = { table: 'public.larger', from: '2024-04-01', to: '2024-04-30' };
  const plan = await harness.client.plan(request);
  const statement = `create table public.larger_202404 partition of public.larger for values from ('2024-04-01') to ('2024-05-01')`;
  expect(plan.refusals).toEqual([
    `2024-04-01 has no partition in public.larger, and public.larger_march beside it holds [2024-03-01, 2024-04-01), not day: create one as that is: ${statement}`,
  ]);
  await harness.db.query(statement);
  expect(await harness.client.plan(request)).toMatchObject({ refusals: [], counts: { create: 0, replace: 30 } });
});

test('a day is created beside a day, also where months came before', async () => {
  const plan = await harness.client.plan({ table: 'public.mixed', from: '2024-03-30', to: '2024-04-05' });
  expect(plan.refusals).toEqual([]);
  expect(plan.partitions.map(({ action }) => action).join()).toBe(
    'replace,replace,create,create,replace,create,create',
  );
  // What was to be created has come another way: the plan is not true any more.
  await harness.db.query(
    `create table mixed_later partition of mixed for values from ('2024-04-04') to ('2024-05-01')`,
  );
  const message = expect.stringContaining('2024-04-04: has a partition now; 2024-04-05: has a partition now') as string;
  const handle = await harness.client.start({ plan: plan.planId });
  await expect(handle.result()).rejects.toMatchObject({ type: 'PlanDrift', message });
});

test('a month is not created as a plain table among those that are partitioned', async () => {
  const plan = await harness.client.plan({ table: sub.name, from: '2024-04', to: '2024-04' });
  expect(plan.refusals).toEqual([
    '2024-04 has no partition in public.sub, and public.sub_march beside it is partitioned itself: create one that is cut as that',
  ]);
});

test('a partition that is half detached is named, with the remedy', async () => {
  // As a detach leaves it that is ended between its two transactions.
  await harness.db.query(`update pg_inherits set inhdetachpending = true where inhrelid = 'shifted_7'::regclass`);
  await harness.restartWorker({ tables: [calendarTable({ ...shifted, timeZone: 'UTC' }, { grain: 'day' })] });
  const plan = await harness.client.plan({ table: shifted.name, from: '2024-03-06', to: '2024-03-07' });
  expect(plan.refusals).toEqual([
    'public.shifted_7 is half detached from public.shifted: finish with "alter table public.shifted detach partition public.shifted_7 finalize"',
  ]);
});

const misfits: readonly [Partial<Partitioning> & Pick<Partitioning, 'grain'>, table: string, why: string][] = [
  [{ grain: 'hour' }, 'larger', '"at" holds whole days'],
  [{ grain: 'day' }, 'texts', '"at" is text; it must be date, timestamp, timestamptz, integer or bigint'],
  [
    { grain: 'hour', timeZone: 'Europe/Berlin' },
    'times',
    '"at" is a time without a zone, and in Europe/Berlin clocks are changed',
  ],
  [{ grain: 'day' }, 'numbers', '"at" is a number; say what it means with partitionBy.as'],
  [
    { grain: 'day', as: 'epoch-milliseconds' },
    'numbers',
    'milliseconds since 1970 do not fit the type of "at", integer',
  ],
  [{ grain: 'hour', as: 'yyyymmdd' }, 'numbers', '"at" holds whole days'],
  [{ grain: 'day', as: 'yyyymmdd' }, 'larger', '"at" is date, and partitionBy.as is for integers'],
];

test.each(misfits)('%o cannot be told apart in %s', async (cut, table, why) => {
  const definition = calendarTable({ ...dates, name: table }, cut);
  const partitionBy = { ...definition.partitionBy, ...cut };
  await harness.restartWorker({ tables: [{ ...definition, partitionBy }] });
  const from = cut.grain === 'hour' ? '2024-03-05T00Z' : '2024-03-05';
  await expect(harness.client.plan({ table, from, to: from })).rejects.toMatchObject({
    type: 'InvalidRequest',
    message: expect.stringContaining(`public.${table} cannot be backfilled by ${cut.grain}: ${why}`) as string,
  });
});

test.each([
  [{ grain: 'hour', timeZone: 'Asia/Tokyo' }, 'times'],
  [{ grain: 'day', timeZone: 'Europe/Berlin' }, 'times'],
  [{ grain: 'day', timeZone: 'Europe/Berlin', as: 'yyyymmdd' }, 'numbers'],
] as const)('%o can in %s', async (cut, table) => {
  const definition = calendarTable({ ...dates, name: table }, cut);
  await harness.restartWorker({ tables: [{ ...definition, partitionBy: { ...definition.partitionBy, ...cut } }] });
  const plan = await harness.client.plan({ table, from: '2024-03-05', to: '2024-03-05' });
  expect(plan.refusals).toEqual([]);
});
