import { afterEach, expect, test } from 'vitest';
import { notNull } from '../../src/config/checks.js';
import { sql } from '../../src/config/define.js';
import { changedDays } from '../support/changed-days.js';
import { createDatabase } from '../support/database.js';
import { FACT, NEW, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';

/** Names of the system's, in a schema that comes before it: every comparison is true, and nothing is ever null. */
const EVIL = `
create schema evil;
do $$ declare t text; o text; begin
  foreach t in array array['date','timestamptz','text','name','bigint','integer','uuid','oid','xid','"char"'] loop
    execute format('create function evil.yes(%1$s, %1$s) returns boolean language sql immutable as ''select true''', t);
    foreach o in array array['=', '<>', '<', '>', '>=', '<='] loop
      execute format('create operator evil.%2$s (leftarg = %1$s, rightarg = %1$s, function = evil.yes)', t, o);
    end loop;
  end loop; end $$;
create function evil.num_nulls(bigint) returns integer language sql as 'select 0';
create function evil.num_nulls(numeric) returns integer language sql as 'select 0';
do $$ declare f text; begin
  foreach f in array array['count', 'min', 'max', 'sum', 'btrim', 'replace', 'starts_with', 'to_regclass', 'quote_ident'] loop
    execute format('create function evil.%I(text) returns text language sql immutable as $f$ select pg_catalog.text %L $f$', f, 'evil');
    execute format('create function evil.%I(bigint) returns bigint language sql immutable as $f$ select 0::bigint $f$', f);
  end loop; end $$;
create function evil.now() returns timestamptz language sql as $f$ select timestamptz 'infinity' $f$;
create function evil.pg_backend_pid() returns integer language sql as 'select 0';
create operator evil.|| (leftarg = text, rightarg = text, function = evil.yes);
create operator evil.+ (leftarg = bigint, rightarg = bigint, function = evil.yes);
create operator evil.+ (leftarg = date, rightarg = date, function = evil.yes);
create function evil.concat(text, text) returns text language sql as 'select ''evil''';
create type evil.timestamptz as enum ();
create type evil.date as enum ();
create type evil.text as enum ();
create type evil.oid as enum ();
create table evil.pg_class (oid int);
create table evil.pg_inherits (inhrelid int);
create table evil.pg_stat_activity (pid int);
create table evil.pg_trigger (tgname name);
create table evil.run (plan_id int);
create table evil.partition (table_name int);`;

type Build = NonNullable<TableInput['build']>;

/** The build means what it says whatever the path. */
const build: Build = ({ startDate, endDate }) => sql`
  select day, id, amount from src
   where day operator(pg_catalog.>=) ${startDate} and day operator(pg_catalog.<) ${endDate}`;

const PATH = ['evil', 'pg_catalog', 'public'];

interface Hostile {
  readonly by: string;
  readonly searchPath: Partial<TableInput>;
  readonly options: string;
}

const hostile: readonly Hostile[] = [
  { by: 'the definition', searchPath: { searchPath: PATH }, options: '' },
  { by: 'the role', searchPath: {}, options: `?options=${encodeURIComponent(`-c search_path=${PATH.join(',')}`)}` },
];

let harness: Harness;
afterEach(() => harness.close());

async function begin({ searchPath, options }: Hostile, changes: Partial<TableInput>): Promise<void> {
  const db = await createDatabase();
  const table = factTable({ build, ...searchPath, ...changes });
  harness = await createHarness(FACT + EVIL, { tables: [table] }, { db, workerDatabaseUrl: `${db.url}${options}` });
}

test.each(hostile)('a schema before the system’s, given by $by, changes nothing outside the range', async (given) => {
  await begin(given, { checks: [notNull(['id'])] });
  const { db, client } = harness;
  await db.query('drop table fact_20240305');
  const before = await fingerprints(db);
  const run = await client.start({ table: 'fact', from: '2024-03-04', to: '2024-03-05' });
  expect(await run.result()).toMatchObject({ partitions: 2, rowsBefore: 100, rowsAfter: 200 });
  const after = await fingerprints(db);
  expect(changedDays(before, after)).toEqual(march(4, 5));
  for (const day of march(4, 5)) expect(after.get(day)).toMatchObject(NEW);
  const { rows } = await db.query(
    'select table_name, key, generation::int, row_count::int from backfill.partition order by key',
  );
  expect(rows).toEqual(march(4, 5).map((key) => ({ table_name: 'public.fact', key, generation: 1, row_count: 100 })));
});

test.each(hostile)('a schema before the system’s, given by $by, lets no stray row in', async (given) => {
  const stray: Build = ({ startDate }) =>
    sql`select ${startDate} as day, 1 as id, 1 as amount union all select pg_catalog.date '2024-03-09', 900, 1`;
  await begin(given, { build: stray });
  const before = await fingerprints(harness.db);
  const run = await harness.client.start({ table: 'fact', from: '2024-03-04', to: '2024-03-04' });
  await expect(run.result()).rejects.toMatchObject({
    key: '2024-03-04',
    failure: expect.objectContaining({ type: 'StrayRows', message: expect.stringMatching(/1 rows .*2024-03-09/) }),
  });
  expect(changedDays(before, await fingerprints(harness.db))).toEqual([]);
});

test.each(hostile)('a schema before the system’s, given by $by, does not satisfy a check', async (given) => {
  await begin(given, { checks: [notNull(['amount'])] });
  const { db, client } = harness;
  await db.query('alter table src alter amount drop not null; update src set amount = null where id = 7');
  await db.query('alter table fact alter amount drop not null');
  const run = await client.start({ table: 'fact', from: '2024-03-04', to: '2024-03-04' });
  await expect(run.result()).rejects.toMatchObject({
    key: '2024-03-04',
    failure: expect.objectContaining({ type: 'CheckFailed', sample: ['day=2024-03-04, id=7'] }),
  });
});
