import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyRow, noRows, notNull, rowCount, unique } from '../../src/config/checks.js';
import { sql } from '../../src/config/define.js';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';
import { logStatementsOfUserPath } from '../support/statement-log.js';
import { unqualifiedNames } from '../support/unqualified.js';

/** Texts of a definition that mean the same by any path: what is found is ours. */
const build: TableInput['build'] = ({ startDate, endDate }) => sql`
  select day, id, amount from src
   where day operator(pg_catalog.>=) ${startDate} and day operator(pg_catalog.<) ${endDate}`;
const checks = (least: number) => [
  notNull(['id']),
  unique(['day', 'id']),
  rowCount({ min: 1 }),
  everyRow(`amount operator(pg_catalog.>=) ${least}`),
  noRows('none of 0', ({ rows }) => sql`select id from ${rows} where amount operator(pg_catalog.=) 0`),
];
const wrong = factTable({ build: ({ endDate }) => sql`select ${endDate} as day, 1 as id, 2 as amount` });

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(
    `${FACT} drop table fact_20240305; create table fact_default partition of fact default;
     create function pass() returns trigger language plpgsql as 'begin return new; end';`,
    { tables: [factTable({ build, checks: checks(0) })] },
  );
});
afterAll(() => harness.close());

/** Written for statements to come, too: whatever a run does here by the definition's search path is looked at. */
test('what the worker says by the search path of a definition is written out in full', async () => {
  const { client, db } = harness;
  const log = logStatementsOfUserPath();
  const write = async () => (await client.start({ table: 'fact', from: '2024-03-04', to: '2024-03-05' })).result();
  try {
    await write();
    await harness.restartWorker({ tables: [factTable({ build, checks: checks(3), showValues: true })] });
    await expect(write()).rejects.toMatchObject({ failure: { type: 'CheckFailed' } });
    await harness.restartWorker({ tables: [factTable({ build, checks: checks(3) })] });
    await expect(write()).rejects.toMatchObject({ failure: { type: 'CheckFailed' } });
    await harness.restartWorker({ tables: [wrong] });
    await expect(write()).rejects.toMatchObject({ failure: { type: 'StrayRows' } });
    await db.query(`create trigger passing before insert on fact for each row execute function pass();
      alter table fact detach partition fact_20240305; drop table fact_20240305`);
    await harness.restartWorker({ tables: [factTable({ build })] });
    await write();
  } finally {
    log.stop();
  }
  const led = log.statements.map((statement) => ({ statement, names: unqualifiedNames(statement) }));
  expect(led.filter(({ names }) => names.length > 0)).toEqual([]);
  const kinds = [
    'delete from',
    'insert into "public"."fact"',
    'new_rows',
    'explain',
    'attach partition',
    '.replacement',
  ];
  expect(kinds.filter((kind) => !log.statements.some((statement) => statement.includes(kind)))).toEqual([]);
});
