import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CalendarTable, calendarTable, changed, createCalendar, versions } from '../support/calendar-table.js';
import { type Harness, createHarness } from '../support/harness.js';

const march: Omit<CalendarTable, 'name'> = {
  column: 'date',
  timeZone: 'UTC',
  from: '2024-02-26T00:00:00Z',
  until: '2024-04-01T00:00:00Z',
};
const instants = { ...march, column: 'timestamptz' } as const;
const parts = (name: string, bounds: readonly (readonly [string, string])[], more = '') =>
  bounds
    .map(
      ([lower, upper], i) =>
        `create table ${name}_p${i} partition of ${name} for values from (${lower}) to (${upper})${more}`,
    )
    .join(';');
const monthly = [
  [`'2024-02-01'`, `'2024-03-01'`],
  [`'2024-03-01'`, `'2024-04-01'`],
] as const;
const hours = Array.from({ length: 35 * 24 }, (_, i) => {
  const at = (hour: number) => `'${new Date(Date.UTC(2024, 1, 26, hour)).toISOString()}'`;
  return [at(i), at(i + 1)] as const;
});
const day = { grain: 'day', from: '2024-03-05', to: '2024-03-06', covers: ['2024-03-05', '2024-03-07'] } as const;
const week = { grain: 'week', from: '2024-W09', to: '2024-W10', covers: ['2024-02-26', '2024-03-11'] } as const;

/** Every way in which a table may be cut, beside into partitions of the definition's grain. */
const kinds = [
  { kind: 'larger', table: march, by: 'range (at)', make: (n: string) => parts(n, monthly), range: day },
  { kind: 'across', table: march, by: 'range (at)', make: (n: string) => parts(n, monthly), range: week },
  { kind: 'smaller', table: instants, by: 'range (at)', make: (n: string) => parts(n, hours), range: day },
  { kind: 'plain', table: march, by: '', make: () => '', range: day },
  {
    kind: 'hash',
    table: march,
    by: 'hash (id)',
    make: (n: string) =>
      [0, 1]
        .map((i) => `create table ${n}_${i} partition of ${n} for values with (modulus 2, remainder ${i})`)
        .join(';'),
    range: day,
  },
  {
    kind: 'list',
    table: march,
    by: 'list (value)',
    make: (n: string) =>
      `create table ${n}_old partition of ${n} for values in ('old'); create table ${n}_d partition of ${n} default`,
    range: day,
  },
  {
    kind: 'other_range',
    table: march,
    by: 'range (id)',
    make: (n: string) => parts(n, [['0', 'maxvalue']]),
    range: day,
  },
  {
    kind: 'expression',
    table: march,
    by: 'range ((at + 1))',
    make: (n: string) => parts(n, monthly) + `; create table ${n}_d partition of ${n} default`,
    range: day,
  },
  {
    kind: 'two_columns',
    table: march,
    by: 'range (at, id)',
    make: (n: string) => `create table ${n}_d partition of ${n} default`,
    range: day,
  },
  {
    kind: 'sub_partitioned',
    table: march,
    by: 'range (at)',
    make: (n: string) =>
      `${parts(
        n,
        [
          [`'2024-02-01'`, `'2024-03-05'`],
          [`'2024-03-05'`, `'2024-03-06'`],
          [`'2024-03-06'`, `'2024-04-01'`],
        ],
        ' partition by hash (id)',
      )};
       ${[0, 1, 2].map((i) => `create table ${n}_p${i}_0 partition of ${n}_p${i} for values with (modulus 1, remainder 0)`).join(';')}`,
    range: day,
  },
  {
    kind: 'numbers',
    table: { ...march, column: 'yyyymmdd' },
    by: 'range (at)',
    make: (n: string) =>
      parts(n, [
        ['20240201', '20240232'],
        ['20240301', '20240332'],
      ]),
    range: { grain: 'month', from: '2024-03', to: '2024-03', covers: ['2024-03-01', '2024-04-01'] },
  },
] as const;

const named = kinds.map((one) => ({ ...one, of: { ...one.table, name: `public.${one.kind}` } }));
const unindexed = { ...march, name: 'public.unindexed' };

let harness: Harness;
beforeAll(async () => {
  const schema = named.map(({ of, by, make }) => createCalendar(of, by && `partition by ${by}`, make(of.name)));
  harness = await createHarness([...schema, createCalendar(unindexed), 'drop index unindexed_at_idx'].join(';\n'), {
    tables: [
      ...named.map(({ of, range: { grain } }) => calendarTable(of, { grain })),
      calendarTable(unindexed, { grain: 'day' }),
    ],
  });
});
afterAll(() => harness.close());

test.each(named)('$kind: exactly the rows of the range are replaced', async ({ of, range: { from, to, covers } }) => {
  const before = await versions(harness.db, of.name);
  const plan = await harness.client.plan({ table: of.name, from, to });
  expect(plan).toMatchObject({ refusals: [], counts: { create: 0, leave: 0 } });
  const handle = await harness.client.start({ plan: plan.planId });
  await handle.result();
  const [first, last] = covers;
  const rows = (Date.parse(last) - Date.parse(first)) / 1_800_000;
  const exactly = { from: `${first}T00:00:00Z`, until: `${last}T00:00:00Z`, rows, new: rows, gone: [] };
  expect(await changed(harness.db, of.name, before)).toEqual(exactly);
});

test('a table without an index on the column is told the statement', async () => {
  const plan = await harness.client.plan({ table: unindexed.name, from: day.from, to: day.to });
  expect(plan).toMatchObject({ refusals: [], counts: { replace: 2 } });
  expect(plan.warnings).toEqual([
    'No index of public.unindexed begins with "at", so that each key reads all of it: create index on public.unindexed ("at")',
  ]);
  const indexed = await harness.client.plan({ table: 'public.plain', from: day.from, to: day.to });
  expect(indexed.warnings).toEqual([]);
  const hash = await harness.client.plan({ table: 'public.hash', from: day.from, to: day.to });
  expect(hash.warnings).toEqual([
    'public.hash is partitioned by HASH (id), not by range ("at"): none of its partitions is created',
  ]);
});

test('in a plain table, what has no row is missing', async () => {
  await harness.db.query(`delete from plain where at in ('2024-03-10', '2024-03-12')`);
  const before = await versions(harness.db, 'public.plain');
  const request = { table: 'public.plain', from: '2024-03-08', to: '2024-03-14', select: 'missing' } as const;
  const plan = await harness.client.plan(request);
  expect(plan.partitions.map(({ key, action }) => [key, action])).toEqual([
    ['2024-03-10', 'replace'],
    ['2024-03-12', 'replace'],
  ]);
  const handle = await harness.client.start({ plan: plan.planId });
  expect(await handle.result()).toMatchObject({ partitions: 2, rowsBefore: 0, rowsAfter: 96 });
  expect(await changed(harness.db, 'public.plain', before)).toMatchObject({ rows: 96, gone: [] });
});
