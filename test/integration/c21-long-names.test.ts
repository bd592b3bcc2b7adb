import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineTable, sql } from '../../src/config/define.js';
import { runBackfill } from '../support/commands.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';

/** 60 bytes; the second has the first 55 of them. */
const LONG = 'this_is_a_really_long_event_fact_table_name_used_in_reports';
const TWIN = `${LONG.slice(0, 55)}_too`;
/** 32 characters, and already 63 bytes. */
const UMLAUTS = `${'ä'.repeat(31)}x`;
/** Every name of 63 bytes, in need of quotes. */
const SCHEMA = `Größe "${'s'.repeat(54)}`;
const COLUMN = `select ${'c'.repeat(56)}`;

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const full = `${quoted(SCHEMA)}.${quoted(UMLAUTS)}`;
const range = { from: '2024-03-01', to: '2024-03-03' };

function table(name: string, column: string, v: number): TableInput {
  return defineTable({
    name,
    partitionBy: { column, grain: 'day', timeZone: 'UTC' },
    build: ({ startDate }) =>
      sql`select ${startDate} as ${sqlName(column)}, ${v}::int + i as v from generate_series(1, 5) i`,
  });
}

const sqlName = (name: string) => sql([quoted(name)] as unknown as TemplateStringsArray);

function schemaOf(name: string, column: string, first: string): string {
  const c = quoted(column);
  return `create table ${name} (${c} date not null, v int) partition by range (${c});
    create table ${first} partition of ${name} for values from ('2024-03-01') to ('2024-03-02');
    insert into ${name} select '2024-03-01', i from generate_series(1, 100) i;`;
}

let harness: Harness;
beforeAll(async () => {
  const schema = `${schemaOf(LONG, 'day', 'p1_long')} ${schemaOf(TWIN, 'day', 'p1_twin')}
    create schema ${quoted(SCHEMA)}; ${schemaOf(full, COLUMN, 'p1_umlauts')}`;
  const tables = [table(LONG, 'day', 100), table(TWIN, 'day', 200), table(full, COLUMN, 300)];
  harness = await createHarness(schema, { tables });
});
afterAll(() => harness.close());

test('C21 each day of two tables that share their first 55 bytes has its own new rows, created at the same time', async () => {
  const { client, db } = harness;
  const runs = await Promise.all([LONG, TWIN].map((name) => client.start({ table: name, ...range })));
  for (const run of runs) expect(await run.result()).toMatchObject({ partitions: 3, rowsAfter: 15 });
  for (const [name, v] of [
    [LONG, 100],
    [TWIN, 200],
  ] as const) {
    const { rows } = await db.query(
      `select day, min(v), max(v), count(*)::int as n from ${name} group by day order by day`,
    );
    expect(rows).toEqual(['01', '02', '03'].map((d) => ({ day: `2024-03-${d}`, min: v + 1, max: v + 5, n: 5 })));
  }
});

test('C21 no partition that is created has a name that the server cut', async () => {
  const { rows } = await harness.db.query<{ name: string; bounds: string }>(
    `select relname as name, pg_get_expr(relpartbound, oid) as bounds from pg_class
      where relispartition and relname not like 'p1%' order by relname`,
  );
  for (const { name, bounds } of rows) {
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
    expect(bounds.replaceAll('-', '')).toContain(`FROM ('${name.slice(-8)}')`);
  }
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
});

test('C21 names of 63 bytes that need quotes go through plan, run, status, history, list, tables, doctor and prune', async () => {
  const { client, db, env } = harness;
  expect([SCHEMA, UMLAUTS, COLUMN].map((name) => Buffer.byteLength(name))).toEqual([63, 63, 63]);
  const plan = await client.plan({ table: full, ...range });
  expect(plan).toMatchObject({ table: full, refusals: [], counts: { replace: 1, create: 2 } });
  const run = await client.start({ plan: plan.planId });
  expect(await run.result()).toMatchObject({ table: full, partitions: 3, rowsAfter: 15 });
  const { rows } = await db.query(`select count(*)::int as n, min(v), max(v) from ${full}`);
  expect(rows).toEqual([{ n: 15, min: 301, max: 305 }]);
  for (const args of [
    ['status', run.workflowId],
    ['history', full],
    ['list', '--table', full],
    ['tables'],
    ['prune', '--older-than', '1 day', '--dry-run'],
  ]) {
    const ended = await runBackfill(env, ...args, '--json');
    expect(ended, `${args.join(' ')}: ${ended.stderr}`).toMatchObject({ exitCode: 0 });
    if (args[0] !== 'prune') expect(ended.stdout).toContain(JSON.stringify(full).slice(1, -1));
  }
  const doctor = await runBackfill(env, 'doctor', full, '--json');
  expect(`${doctor.stdout}${doctor.stderr}`).toContain(JSON.stringify(full).slice(1, -1));
});

test('C21 a run of such names fails at a day, and goes on there', async () => {
  const { client, db, env } = harness;
  await db.query(`alter table ${full} add constraint small check (${quoted(COLUMN)} <> '2024-03-02') not valid`);
  const run = await client.start({ table: full, ...range });
  await expect(run.result()).rejects.toMatchObject({ name: 'PartitionFailed', key: '2024-03-02', done: 1 });
  await db.query(`alter table ${full} drop constraint small`);
  const retried = await runBackfill(env, 'retry', run.workflowId, '--json');
  expect(retried, retried.stderr).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(retried.stdout)).toMatchObject({ outcome: 'completed', result: { table: full } });
  const { rows } = await db.query<{ key: string }>(
    'select key from backfill.replacement where table_name = $1 and plan_id = $2 order by key',
    [full, (JSON.parse(retried.stdout) as { planId: string }).planId],
  );
  expect(rows.map(({ key }) => key)).toEqual(['2024-03-01', '2024-03-02', '2024-03-03']);
});
