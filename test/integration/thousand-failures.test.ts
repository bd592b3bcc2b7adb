import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BuildArguments } from '../../src/config/arguments.js';
import { sql } from '../../src/config/define.js';
import type { FailureRecord } from '../../src/domain/history.js';
import { runBackfill } from '../support/commands.js';
import { factTable } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { statusOf } from '../support/history.js';
import { runState } from '../support/ledger.js';

const DAYS = 1_000;
const [FIRST, LAST] = ['2021-01-01', '2023-09-27'];
const LONG = 10_000;

/** A table without partitions: nothing is created in vain. */
const SCHEMA = `
create table fact (day date not null, id bigint not null, amount numeric(12,2) not null);
create function fail_long(key text) returns numeric language plpgsql as $$
begin
  raise exception '% is wrong %', key, repeat('x', ${LONG});
end $$;`;

let harness: Harness;
beforeAll(async () => {
  const build = ({ startDate, key }: BuildArguments) =>
    sql`select ${startDate} as day, 1 as id, fail_long(${key}) as amount`;
  harness = await createHarness(SCHEMA, { tables: [factTable({ reads: [], build })], slots: 16 });
});
afterAll(() => harness.close());

test('C15 1,000 partitions that fail with long errors do not break the run, and are all in status --failed', async () => {
  const { client, db, env, temporal } = harness;
  const options = { concurrency: 16, publish: 'any-order', onFailure: 'continue' } as const;
  const run = await client.start({ table: 'fact', from: FIRST, to: LAST, ...options });
  const error: unknown = await run.result().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'PartitionFailed', key: FIRST, failed: DAYS, done: 0, total: DAYS });
  const { planId } = error as { planId: string };
  expect(await statusOf(temporal, run.workflowId)).toBe('FAILED');
  expect(await runState(db, planId)).toBe('failed');
  expect((await db.query('select from fact')).rowCount).toBe(0);

  const json = await runBackfill(env, 'status', run.workflowId, '--failed', '--json');
  const { failures } = JSON.parse(json.stdout) as { failures: FailureRecord[] };
  expect(failures.map(({ key }) => key)).toEqual(daysOf());
  for (const { key, sqlstate, message } of failures) {
    expect(sqlstate).toBe('P0001');
    expect(message.slice(0, 40)).toBe(`${key} is wrong ${'x'.repeat(40)}`.slice(0, 40));
  }
  const { stdout } = await runBackfill(env, 'status', run.workflowId, '--failed');
  expect(daysOf().filter((day) => !stdout.includes(`${day} is wrong`))).toEqual([]);
});

function daysOf(): string[] {
  return Array.from({ length: DAYS }, (_, i) => new Date(Date.UTC(2021, 0, 1 + i)).toISOString().slice(0, 10));
}
