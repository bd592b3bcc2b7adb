import fc from 'fast-check';
import { raw } from 'sql-template-tag';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineTable, sql } from '../../src/config/define.js';
import type { Replaced } from '../../src/domain/outcome.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { type Direct, openDirect } from '../support/direct.js';
import { OWN_TYPES } from '../support/every-type.js';
import type { TableInput } from '../support/harness.js';
import { createText, cutOf, insideOf } from '../support/random-table-sql.js';
import {
  type RandomTable,
  columns,
  idTypes,
  keyKinds,
  layouts,
  payloadTypes,
  randomTable,
  zones,
} from '../support/random-table.js';

const CASES = 200;
/** `BACKFILL_TEST_SEED` does a failed run again. */
const seed = Number(process.env['BACKFILL_TEST_SEED'] ?? Date.now() % 2 ** 31);

let db: TestDatabase;
let direct: Direct;
beforeAll(async () => {
  db = await createDatabase();
  await db.query(OWN_TYPES);
  direct = openDirect(db);
});
afterAll(async () => {
  await direct.end();
  await db.drop();
});

const seen = new Map<string, number>();
const see = (...kinds: readonly string[]) => kinds.forEach((kind) => seen.set(kind, (seen.get(kind) ?? 0) + 1));

test(`${CASES} random tables are as one statement would have rebuilt them (seed ${seed})`, async () => {
  let n = 0;
  console.log(`Random tables: seed ${seed}`);
  await fc.assert(
    fc.asyncProperty(randomTable, (table) => replaceAndCompare(`random_${n++}`, table)),
    { numRuns: CASES, seed, endOnFailure: true },
  );
  const kinds = [
    ...Object.keys(columns).map((kind) => `by ${kind}`),
    ...layouts.map((kind) => `cut as ${kind}`),
    ...['hour', 'day', 'week', 'month'].map((grain) => `of a ${grain}`),
    ...zones.map((zone) => `in ${zone}`),
    ...keyKinds.map((kind) => `key: ${kind}`),
    ...idTypes.map((type) => `id: ${type}`),
    ...payloadTypes.map((type) => `with ${type}`),
    ...['delete-insert', 'diff'].map((strategy) => `written by ${strategy}`),
    'created',
    'replaced',
    'rows kept',
    'rows changed',
    'rows removed',
    'rows added',
    'emptied',
    'a later run',
  ];
  expect(Object.fromEntries(kinds.filter((kind) => !seen.has(kind)).map((kind) => [kind, 0]))).toEqual({});
});

async function replaceAndCompare(name: string, table: RandomTable): Promise<void> {
  await db.query(createText(name, table));
  const { keys } = cutOf(table);
  const range = { from: keys[0] ?? '', to: keys.at(-1) ?? '' };
  const { replaced, plan } = await direct.run(inputOf(name, table), range);
  expect(replaced.map(({ key }) => key)).toEqual(keys);
  await compare(name, table, replaced);
  if (table.isTwice) {
    const again = await direct.run(inputOf(name, table), range);
    await compare(name, table, again.replaced, again.replaced);
    see('a later run');
  }
  see(`by ${table.column}`, `cut as ${table.layout}`, `of a ${table.grain}`, `in ${table.zone}`, `key: ${table.key}`);
  see(`id: ${table.id}`, `written by ${plan.strategy}`, ...table.payload.map((type) => `with ${type}`));
  await db.query(`drop table ${name}, ${name}_src, ${name}_old`);
}

function inputOf(name: string, { column, grain, zone, strategy }: RandomTable): TableInput {
  const { as } = { as: undefined, ...columns[column] };
  return defineTable({
    name,
    partitionBy: { column: 'at', grain, timeZone: zone, ...(as && { as }) },
    strategy,
    whenEmpty: 'empty',
    build: ({ startValue, endValue }) =>
      sql`select * from ${raw(`${name}_src`)} where at >= ${startValue} and at < ${endValue}`,
  });
}

/** @param repeated what a second run did, which finds no old row any more */
async function compare(
  name: string,
  table: RandomTable,
  replaced: readonly Replaced[],
  repeated?: readonly Replaced[],
): Promise<void> {
  const inside = insideOf(table);
  const columnNames = ['at', 'bucket', 'id', ...table.payload.map((_, i) => `c${i}`)].join(', ');
  const text = (from: string, where: string) => `select row(${columnNames})::text as row from ${from} where ${where}`;
  const { rows: wrong } = await db.query(`
    with expected as (${text(`${name}_old`, `not (${inside})`)} union all ${text(`${name}_src`, inside)}),
         found as (${text(name, 'true')})
    (select 'missing' as what, row from (table expected except all table found) m) union all
    (select 'too much', row from (table found except all table expected) t)`);
  expect(wrong).toEqual([]);
  // Rows outside are the same versions still.
  const { rows: rewritten } = await db.query(`
    select row(${columnNames}, version)::text from ${name}_old where not (${inside})
    except all select row(${columnNames}, xmin::text)::text from ${name}`);
  expect(rewritten).toEqual([]);
  const { rows: counted } = await db.query<{ before: number; after: number }>(`
    select (select count(*)::int from ${name}_${repeated ? 'src' : 'old'} where ${inside}) as before,
           (select count(*)::int from ${name}_src where ${inside}) as after`);
  const sum = (of: (one: Replaced) => number) => replaced.reduce((total, one) => total + of(one), 0);
  expect({ before: sum(({ rowsBefore }) => rowsBefore), after: sum(({ rowsAfter }) => rowsAfter) }).toEqual(counted[0]);
  for (const { status, rowsBefore, rowsAfter, changes } of replaced) {
    see(status);
    if (rowsBefore > 0 && rowsAfter === 0) see('emptied');
    if (!changes || status !== 'replaced') continue;
    const { added, removed, changed, unchanged } = changes;
    expect({ before: removed + changed + unchanged, after: added + changed + unchanged }).toEqual({
      before: rowsBefore,
      after: rowsAfter,
    });
    if (repeated) expect(changes).toEqual({ added: 0, removed: 0, changed: 0, unchanged: rowsAfter });
    for (const [what, count] of Object.entries({ kept: unchanged, changed, removed, added }))
      if (count > 0) see(`rows ${what}`);
  }
}
