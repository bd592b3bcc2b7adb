import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type CheckInput, everyRow, noRows, notNull, unique } from '../../src/config/checks.js';
import { sql } from '../../src/config/define.js';
import type { FailureInfo } from '../../src/domain/failure.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';
import { terminateOpenRuns } from '../support/history.js';

/** Names that need quotes, a column that may be null, and a constraint that quotes the whole row. */
const SCHEMA = `${FACT}
create table odd (day date not null, "the Id" bigint not null, "it's" text, secret text check (secret <> 'bad'),
                  primary key (day, "the Id")) partition by range (day);
create table odd_1 partition of odd for values from ('2024-03-01') to ('2024-03-02');
create table heap (day date not null, note text) partition by range (day);
create table heap_1 partition of heap for values from ('2024-03-01') to ('2024-03-02');`;

const oddTable = (changes: Partial<TableInput>): TableInput =>
  factTable({
    name: 'odd',
    reads: [],
    build: ({ startDate }) => sql`
      select ${startDate} as day, i as "the Id", case when i > 3 then 'note' end as "it's", 'hush ' || i as secret
        from generate_series(1, 20) i`,
    ...changes,
  });

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(SCHEMA, { tables: [factTable()] });
});
afterEach(() => terminateOpenRuns(harness.temporal));
afterAll(() => harness.close());

/** Backfills one day of a definition that fails, and says what the client and the ledger know of it. */
async function failureOf(definition: TableInput, day = '2024-03-01'): Promise<FailureInfo> {
  await harness.restartWorker({ tables: [definition] });
  const handle = await harness.client.start({ table: definition.name, from: day, to: day });
  const error = (await handle.result().catch((reason: unknown) => reason)) as { planId: string; failure: FailureInfo };
  expect(error).toMatchObject({ name: 'PartitionFailed' });
  const { failures } = await harness.client.readFailures(error.planId);
  expect(failures).toMatchObject([error.failure]);
  return error.failure;
}

const keysOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `day=2024-03-01, the Id=${from + i}`);

test.each<[name: string, check: CheckInput, sample: string[] | undefined]>([
  ['notNull: keys of the rows', notNull(["it's"]), keysOf(1, 3)],
  ['everyRow: keys of the rows, at most ten', everyRow('"the Id" < 5'), expect.objectContaining({ length: 10 })],
  ['unique: its columns', unique(['day', "it's"]), ["day=2024-03-01, it's=note", "day=2024-03-01, it's=null"]],
  ['noRows: nothing', noRows('no secret', ({ rows }) => sql`select secret from ${rows} r`), undefined],
])('a check names itself and %s', async (_, check, sample) => {
  const failure = await failureOf(oddTable({ checks: [check] }));
  expect(failure).toMatchObject({ type: 'CheckFailed', check: check.name });
  expect(failure.sample).toEqual(sample);
  expect(JSON.stringify(failure)).not.toContain('hush');
});

test('keys of a partition that is being created, too', async () => {
  const failure = await failureOf(oddTable({ checks: [notNull(["it's"])] }), '2024-03-05');
  expect(failure.sample).toEqual(keysOf(1, 3).map((key) => key.replace('03-01', '03-05')));
});

test('showValues: whole rows', async () => {
  const failure = await failureOf(oddTable({ checks: [notNull(["it's"])], showValues: true }));
  expect(failure.sample?.[0]).toBe(`{"day": "2024-03-01", "it's": null, "secret": "hush 1", "the Id": 1}`);
});

test('of a table without a primary key there is nothing to show', async () => {
  const heap = factTable({
    name: 'heap',
    reads: [],
    build: ({ startDate }) => sql`select ${startDate} as day, null::text as note`,
    checks: [notNull(['note'])],
  });
  expect(await failureOf(heap)).not.toHaveProperty('sample');
  expect(await failureOf({ ...heap, showValues: true })).toMatchObject({
    sample: [`{"day": "2024-03-01", "note": null}`],
  });
});

test('a constraint that quotes the row: hidden, unless the definition allows it; a key is shown', async () => {
  const bad = oddTable({
    build: ({ startDate }) => sql`select ${startDate} as day, 1 as "the Id", 'hush' as "it's", 'bad' as secret`,
  });
  const hidden = await failureOf(bad);
  expect(hidden).toMatchObject({ type: 'SqlFailed', sqlstate: '23514', detail: expect.stringContaining('showValues') });
  expect(JSON.stringify(hidden)).not.toContain('hush');
  expect((await failureOf({ ...bad, showValues: true })).detail).toContain('hush');
  const twice = oddTable({
    build: ({ startDate }) => sql`
      select ${startDate} as day, 1 as "the Id", 'hush' as "it's", 'x' as secret from generate_series(1, 2)`,
  });
  expect(await failureOf(twice)).toMatchObject({
    sqlstate: '23505',
    detail: 'Key (day, "the Id")=(2024-03-01, 1) already exists.',
  });
});

/** What PostgreSQL writes beside its message: DETAIL, and CONTEXT with the line of JSON or the function's call. */
test.each([
  ['a reference that leads nowhere', '23503', `'hush' as "it's", 'x' as secret`],
  ['data that are no JSON', '22P02', `('{"a": ' || repeat('hush', i) || '}')::json::text as "it's", 'x' as secret`],
  ['a null', '23502', `'hush' as "it's", null as secret`],
  ['an error in a function', '22012', `fail_over('hush')::text as "it's", 'x' as secret`],
])('%s: what is quoted of the row is hidden, unless the definition allows it', async (_, sqlstate, columns) => {
  await harness.db.query(`
    create table if not exists known (name text primary key);
    alter table odd drop constraint if exists odd_known;
    alter table odd add constraint odd_known foreign key ("it's") references known;
    alter table odd alter secret set not null;
    create or replace function fail_over(value text) returns int language plpgsql
      as 'begin execute format(''select 1 / 0 -- %s'', value); return 1; end'`);
  const bad = oddTable({
    build: () =>
      Object.assign(sql``, {
        strings: ['select ', ` as day, i as "the Id", ${columns} from generate_series(1, 1) i`],
        values: [{ backfillBound: 'startDate' }],
      }),
  });
  const hidden = await failureOf(bad);
  expect(hidden).toMatchObject({ type: 'SqlFailed', sqlstate });
  expect(JSON.stringify(hidden)).not.toContain('hush');
  const shown = await failureOf({ ...bad, showValues: true });
  if (sqlstate !== '22012') expect(shown.detail).toContain('hush');
});

test('a number that does not fit its column: how large one may be is told, since no value is', async () => {
  await harness.db.query('alter table odd drop constraint if exists odd_known, add column if not exists n numeric(3)');
  const bad = oddTable({
    build: ({ startDate }) => sql`
      select ${startDate} as day, i as "the Id", null::text as "it's", 'x' as secret, 1000 * i as n
        from generate_series(1, 2) i`,
  });
  expect(await failureOf(bad)).toMatchObject({ sqlstate: '22003', detail: expect.stringContaining('10^3') });
});
