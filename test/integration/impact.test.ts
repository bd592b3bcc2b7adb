import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import type { Dependent } from '../../src/domain/impact.js';
import type { TestDatabase } from '../support/database.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';

const SCHEMA = `${FACT}
create schema mart;
create view mart.by_month as select date_trunc('month', day) as month, sum(amount) as amount from fact group by 1;
create materialized view mart.by_year as select date_trunc('year', month) as year, sum(amount) as amount from mart.by_month group by 1;
create view mart."Last Year" as select * from mart.by_year;
create view mart.third as select * from fact_20240303;
create view mart.tenth as select * from fact_20240310;
create view mart.unrelated as select 1 as fact;
create function mart.total() returns numeric language sql begin atomic select sum(amount) from public.fact; end;
create function mart.in_text() returns numeric language plpgsql as $$ begin return (select sum(amount) from public.fact); end $$;
create function mart.on_view() returns numeric language sql as 'select sum(amount) from mart.by_month';
create function mart.other() returns text language sql as $$ select 'fact' || factor from (values (1)) v (factor) $$;
create table mart.note (day date, fact_id bigint, text text, foreign key (day, fact_id) references fact (day, id));
create table mart.weekly (week date primary key, amount numeric);
create table mart.quarterly (quarter date primary key, amount numeric);
create view mart.weeks as select * from mart.weekly;`;

const weekly: TableInput = {
  name: 'mart.weekly',
  partitionBy: { column: 'week', grain: 'week', timeZone: 'UTC' },
  reads: ['public.fact'],
  build: ({ startDate }) => sql`select ${startDate} as week, 1 as amount`,
  reports: [{ name: 'Weekly mail' }],
};
const quarterly: TableInput = {
  name: 'mart.quarterly',
  partitionBy: { column: 'quarter', grain: 'quarter', timeZone: 'UTC' },
  // Not declared: the build says it.
  build: ({ startDate }) => sql`select ${startDate} as quarter, sum(amount) as amount from mart.weeks`,
};
const fact = factTable({
  strategy: 'diff',
  reports: [{ name: 'Dashboard', owner: 'finance', url: 'https://dashboards.example/1' }],
});

let harness: Harness;
let db: TestDatabase;
beforeAll(async () => {
  harness = await createHarness(SCHEMA, { tables: [quarterly, fact, weekly] });
  ({ db } = harness);
});
afterAll(() => harness.close());

describe('the impact of a plan', () => {
  let impact: readonly Dependent[];
  beforeAll(async () => {
    ({ impact } = await harness.client.plan({ table: 'fact', from: '2024-03-02', to: '2024-03-04' }));
  });
  const of = (name: string) => impact.find((one) => one.name === name);

  test('views and materialized views, and those on them', () => {
    expect(of('mart.by_month')).toMatchObject({ kind: 'view', reason: 'reads public.fact' });
    expect(of('mart.by_year')).toMatchObject({
      kind: 'materialized view',
      reason: 'reads mart.by_month; shows old rows until it is refreshed',
    });
    expect(of('mart."Last Year"')).toMatchObject({ kind: 'view', reason: 'reads mart.by_year' });
  });

  test('a view on a partition, where that partition is written', () => {
    expect(of('mart.third')).toMatchObject({ kind: 'view', reason: 'reads public.fact_20240303' });
    expect(of('mart.tenth')).toBeUndefined();
  });

  test('functions: those that the catalog knows, and those whose text names the table or a view', () => {
    expect(of('mart.total()')).toMatchObject({ kind: 'function', reason: 'reads public.fact' });
    expect(of('mart.in_text()')?.reason).toBe('may read public.fact: its text names it');
    expect(of('mart.on_view()')?.reason).toBe('may read mart.by_month: its text names it');
    expect(of('mart.other()')).toBeUndefined();
    expect(of('mart.unrelated')).toBeUndefined();
  });

  test('foreign keys that point at it', () => {
    expect(impact.filter(({ kind }) => kind === 'foreign key')).toMatchObject([
      { name: 'mart.note (note_day_fact_id_fkey)', reason: 'its rows point at rows of public.fact' },
    ]);
  });

  test('tables that other definitions build from it, and what depends on those', () => {
    expect(of('mart.weekly')).toMatchObject({
      kind: 'table',
      reason: 'is built from public.fact, by its own definition',
    });
    expect(of('mart.weeks')).toMatchObject({ kind: 'view', reason: 'reads mart.weekly' });
    expect(of('mart.quarterly')).toMatchObject({
      kind: 'table',
      reason: 'is built from mart.weeks, by its own definition',
    });
  });

  test('reports as declared, last, those of dependent tables too', () => {
    expect(impact.slice(-2)).toEqual([
      {
        kind: 'report',
        name: 'Dashboard',
        reason: 'shows public.fact',
        owner: 'finance',
        url: 'https://dashboards.example/1',
      },
      { kind: 'report', name: 'Weekly mail', reason: 'shows mart.weekly', owner: null, url: null },
    ]);
  });

  test('each is named once', () => {
    const names = impact.map(({ kind, name }) => `${kind} ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

test('making a plan writes nothing outside the ledger, and holds no lock', async () => {
  const versions = async () =>
    (await db.query(`select md5(string_agg(day || ':' || id || ':' || xmin, ',' order by day, id)) as all from fact`))
      .rows;
  const before = await versions();
  await harness.client.plan({ table: 'fact', from: '2024-03-01', to: '2024-03-10' });
  expect(await versions()).toEqual(before);
  const { rows } = await db.query(
    `select l.mode from pg_locks l join pg_class c on c.oid = l.relation
      where c.relname like 'fact%' and l.pid <> pg_backend_pid()`,
  );
  expect(rows).toEqual([]);
});

test('a plan says who wrote its partitions last, how long they took, and what PostgreSQL expects of the build', async () => {
  const request = { table: 'fact', from: '2024-03-05', to: '2024-03-09' };
  const first = await harness.client.plan(request);
  expect(first).toMatchObject({
    earlier: null,
    lastWrites: [{ planId: null, workflowId: null, at: null, ranges: ['2024-03-05..2024-03-09'] }],
  });
  expect(first.estimates.map(({ key }) => key)).toEqual(['2024-03-05', '2024-03-07', '2024-03-09']);
  for (const { rows, cost } of first.estimates) {
    expect(rows).toBeGreaterThanOrEqual(1);
    expect(cost).toBeGreaterThan(0);
  }

  const run = await harness.client.start({ table: 'fact', from: '2024-03-06', to: '2024-03-07' });
  const { planId } = await run.result();
  const next = await harness.client.plan(request);
  expect(next.earlier).toEqual({ count: 2, medianMs: expect.any(Number) });
  expect(next.lastWrites).toEqual([
    { planId: null, workflowId: null, at: null, ranges: ['2024-03-05', '2024-03-08..2024-03-09'] },
    { planId, workflowId: run.workflowId, at: expect.stringMatching(/Z$/), ranges: ['2024-03-06..2024-03-07'] },
  ]);
  // The plan of before says what was true then.
  const stored = await harness.client.readPlan(first.planId);
  expect(stored?.lastWrites).toEqual(first.lastWrites);
});
