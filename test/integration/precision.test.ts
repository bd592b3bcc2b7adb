import { afterAll, beforeAll, expect, test } from 'vitest';
import { PartitionFailed } from '../../src/client/errors.js';
import { sql } from '../../src/config/define.js';
import { type Harness, createHarness } from '../support/harness.js';

const COLUMNS = ['timestamp(0)', 'timestamptz(0)', 'timestamptz(3)', 'timestamp(6)', 'date'] as const;
type Column = (typeof COLUMNS)[number];

const nameOf = (type: Column) => `at_${type.replaceAll(/\W/g, '_')}`;
const tableOf = (type: Column, time: string) => ({
  name: nameOf(type),
  partitionBy: { column: 'at', grain: 'day', timeZone: 'UTC' } as const,
  build: () => sql`select ${time}::timestamp as at, 1 as n`,
});

let harness: Harness;
beforeAll(async () => {
  const schema = COLUMNS.map((type) => {
    const name = nameOf(type);
    return `create table ${name} (at ${type}, n int) partition by range (at);
      create table ${name}_5 partition of ${name} for values from ('2024-03-05') to ('2024-03-06');
      create table ${name}_6 partition of ${name} for values from ('2024-03-06') to ('2024-03-07');`;
  });
  harness = await createHarness(`set timezone = 'UTC'; ${schema.join('')}`, { tables: [] });
});
afterAll(() => harness.close());

/** Rows of both days after two runs of the fifth of March. */
async function runTwice(type: Column, time: string): Promise<number | string> {
  await harness.restartWorker({ tables: [tableOf(type, time)] });
  for (let i = 0; i < 2; i++) {
    const run = await harness.client.start({ table: nameOf(type), from: '2024-03-05', to: '2024-03-05' });
    const error: unknown = await run.result().catch((reason: unknown) => reason);
    if (error instanceof PartitionFailed) return `${error.failure.type} ${error.failure.sample?.join() ?? ''}`;
    if (error instanceof Error) throw error;
  }
  const { rows } = await harness.db.query<{ n: number }>(`select count(*)::int as n from ${nameOf(type)}`);
  return rows[0]?.n ?? 0;
}

test.each([
  ['timestamp(0)', '2024-03-05 23:59:59.7', 'StrayRows 2024-03-05 23:59:59.7'],
  ['timestamp(0)', '2024-03-05 23:59:59.4', 1],
  ['timestamptz(0)', '2024-03-05 23:59:59.5', 'StrayRows 2024-03-05 23:59:59.5'],
  ['timestamptz(3)', '2024-03-05 23:59:59.9996', 'StrayRows 2024-03-05 23:59:59.9996'],
  ['timestamptz(3)', '2024-03-05 23:59:59.9994', 1],
  ['timestamp(6)', '2024-03-05 23:59:59.999999', 1],
  ['date', '2024-03-05 23:59:59.9', 1],
] as const)('in a column of type %s, %s is of the day to which it is rounded', async (type, time, ends) => {
  expect(await runTwice(type, time)).toBe(ends);
});
