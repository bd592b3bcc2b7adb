import { raw } from 'sql-template-tag';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { changedDays } from '../support/changed-days.js';
import { runBackfill } from '../support/commands.js';
import { FACT, NEW, OLD, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';

const request = { table: 'fact', from: '2024-03-03', to: '2024-03-05' };
const words = ['fact', '--from', request.from, '--to', request.to];

let harness: Harness;
beforeEach(async () => {
  harness = await createHarness(`${FACT} delete from src where day = '2024-03-04'`, { tables: [factTable()] });
});
afterEach(() => harness.close());

async function runExpectingFailure() {
  const handle = await harness.client.start(request);
  return handle.result().then(
    () => expect.unreachable('The run completed'),
    (error: unknown) => error,
  );
}

test('C05 by default a day without source rows fails and keeps its old rows, as the plan says', async () => {
  const before = await fingerprints(harness.db);
  const shown = await runBackfill(harness.env, 'plan', ...words);
  expect(shown.stdout).toContain('empty build      fails, and the old rows stay');
  expect(await harness.client.plan(request)).toMatchObject({ whenEmpty: 'fail', refusals: [] });

  const error = await runExpectingFailure();
  const failure = { type: 'EmptyBuild', message: expect.stringContaining('the 100 old rows stay') as string };
  expect(error).toMatchObject({ name: 'PartitionFailed', key: '2024-03-04', done: 1, total: 3, failure });
  const after = await fingerprints(harness.db);
  expect(changedDays(before, after)).toEqual(march(3, 3));
  expect(after.get('2024-03-03')).toMatchObject(NEW);
  expect(after.get('2024-03-04')).toMatchObject(OLD);
  const { rows } = await harness.db.query(`select key from backfill.replacement`);
  expect(rows).toEqual([{ key: '2024-03-03' }]);
});

test('C05 with whenEmpty "empty" it ends without rows, and the report says what was there', async () => {
  await harness.restartWorker({ tables: [factTable({ whenEmpty: 'empty' })] });
  const before = await fingerprints(harness.db);
  const shown = await runBackfill(harness.env, 'plan', ...words);
  expect(shown.stdout).toContain('empty build      empties the partition');

  const started = await runBackfill(harness.env, 'start', ...words, '--yes');
  expect(started).toMatchObject({ exitCode: 0 });
  expect(started.stdout).toContain('Had rows before and have none now:\n  - 2024-03-04 (100 rows before)');
  const after = await fingerprints(harness.db);
  expect(changedDays(before, after)).toEqual(march(3, 5));
  expect(after.has('2024-03-04')).toBe(false);
  for (const day of ['2024-03-03', '2024-03-05']) expect(after.get(day)).toMatchObject(NEW);

  const handle = harness.client.get('backfill/public.fact/2024-03-03..2024-03-05');
  const emptied = [{ key: '2024-03-04', rowsBefore: 100 }];
  expect(await handle.result()).toMatchObject({ partitions: 3, rowsBefore: 300, rowsAfter: 200, emptied });
});

/** A view whose owner may not see what it selects: a superuser who reads it is refused, too. */
const READER = (role: string) => `
  create role ${role};
  create table closed (like src); insert into closed select * from src; create view src_closed as table closed;
  alter view src_closed owner to ${role};
  create table guarded (like src); insert into guarded select * from src; create view src_guarded as table guarded;
  alter table guarded enable row level security; grant select on guarded to ${role};
  alter view src_guarded owner to ${role};`;

const unreadable = [
  { source: 'src_of_another_name', sqlstate: '42P01' },
  { source: 'src_closed', sqlstate: '42501' },
  { source: 'src_guarded', sqlstate: '42501' },
];

test.each(unreadable)('C05 $source is an error ($sqlstate), never an empty source', async ({ source, sqlstate }) => {
  const role = `c05_${harness.db.name}`;
  await harness.db.query(READER(role));
  try {
    await harness.restartWorker({ tables: [readingFrom(source)] });
    const before = await fingerprints(harness.db);
    const plan = await harness.client.plan(request);
    expect(plan.refusals).toEqual([expect.stringMatching(`^The build cannot run: .*\\(SQLSTATE ${sqlstate}\\)$`)]);
    const message = expect.stringContaining(`SQLSTATE ${sqlstate}`) as string;
    expect(await runExpectingFailure()).toMatchObject({ type: 'InvalidRequest', message });
    expect(changedDays(before, await fingerprints(harness.db))).toEqual([]);
  } finally {
    await harness.db.query(`drop owned by ${role}; drop role ${role}`);
  }
});

test('C05 a source that goes away after the plan fails the day, and the old rows stay', async () => {
  await harness.restartWorker({ tables: [readingFrom('src')] });
  const before = await fingerprints(harness.db);
  const plan = await harness.client.plan(request);
  await harness.db.query('drop table src');
  const handle = await harness.client.start({ plan: plan.planId });
  const failure = { type: 'SqlFailed', sqlstate: '42P01' };
  await expect(handle.result()).rejects.toMatchObject({ name: 'PartitionFailed', key: '2024-03-03', failure });
  expect(changedDays(before, await fingerprints(harness.db))).toEqual([]);
});

/** Even where an empty source is fine. */
function readingFrom(source: string): TableInput {
  return factTable({
    whenEmpty: 'empty',
    reads: [source],
    build: ({ startDate, endDate }) =>
      sql`select day, id, amount from ${raw(source)} where day >= ${startDate} and day < ${endDate}`,
  });
}
