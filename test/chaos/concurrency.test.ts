import { expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { NEW, fingerprints, march } from '../support/fact.js';
import { buildCounts, closeGate, gatedFact, openGate } from '../support/gate.js';
import { scheduledKeys } from '../support/history.js';
import { replacedKeys } from '../support/ledger.js';
import { runSessions, untilAllAtGates, untilAtGate } from '../support/sessions.js';
import { until } from '../support/wait.js';
import { useGatedFact } from '../support/use-gated-fact.js';

const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10', concurrency: 4, publish: 'any-order' } as const;

const { harness } = useGatedFact([gatedFact()]);

test('C13 with a limit of 4: never more at work, started in ascending order, the next as soon as one ends', async () => {
  const { db, client, temporal } = harness;
  const counting = countAtWork();
  await closeGate(db, ...march(1, 10));
  const run = await client.start(request);
  expect(await untilAllAtGates(db, march(1, 4))).toEqual(march(1, 4));
  await openGate(db, '2024-03-02');
  expect(await untilAllAtGates(db, days(1, 3, 4, 5))).toEqual(days(1, 3, 4, 5));
  await openGate(db, '2024-03-04', '2024-03-05');
  expect(await untilAllAtGates(db, days(1, 3, 6, 7))).toEqual(days(1, 3, 6, 7));
  expect(await buildCounts(db)).toMatchObject({ '2024-03-07': 1, '2024-03-08': 0 });
  await openGate(db, ...march(1, 10));

  expect(await run.result()).toMatchObject({ partitions: 10, rowsAfter: 1000 });
  expect(await counting.stop()).toBe(4);
  expect(await scheduledKeys(temporal, run.workflowId)).toEqual(march(1, 10));
});

test('after a failure no further day starts, those at work end, and the oldest failed day is named', async () => {
  const { db, client } = harness;
  await failing('2024-03-02', '2024-03-04');
  const before = await fingerprints(db);
  await closeGate(db, ...march(1, 10));
  const run = await client.start(request);
  await untilAllAtGates(db, march(1, 4));
  // The younger one fails first.
  await openGate(db, '2024-03-04');
  await until('the failure of the fourth', async () => (await run.progress()).failed === 1);
  await openGate(db, '2024-03-01', '2024-03-02', '2024-03-03');

  await expect(run.result()).rejects.toMatchObject({
    name: 'PartitionFailed',
    key: '2024-03-02',
    failed: 2,
    done: 2,
    total: 10,
  });
  expect(changedDays(before, await fingerprints(db))).toEqual(days(1, 3));
  expect(await buildCounts(db)).toMatchObject({ '2024-03-05': 0, '2024-03-10': 0 });
});

test('with onFailure "continue" the others go on, and the run ends as failed with the oldest failed day', async () => {
  const { db, client } = harness;
  await failing('2024-03-03', '2024-03-09');
  const before = await fingerprints(db);
  const counting = countAtWork();
  const run = await client.start({ ...request, onFailure: 'continue' });
  await expect(run.result()).rejects.toMatchObject({ name: 'PartitionFailed', key: '2024-03-03', failed: 2, done: 8 });
  expect(await counting.stop()).toBeLessThanOrEqual(4);
  expect(changedDays(before, await fingerprints(db))).toEqual(days(1, 2, 4, 5, 6, 7, 8, 10));
});

test('C11 with a limit of 3, days after the failed one that have finished are not done again', async () => {
  const { db, client, temporal } = harness;
  await failing('2024-03-06');
  await closeGate(db, '2024-03-06', '2024-03-09');
  const run = await client.start({ ...request, concurrency: 3 });
  const { planId } = await untilAtGate(db, '2024-03-06');
  await untilAtGate(db, '2024-03-09');
  await until('all but two', async () => (await replacedKeys(db, planId)).length === 8);
  await openGate(db, '2024-03-06');
  await until('the failure', async () => (await run.progress()).failed === 1);
  await openGate(db, '2024-03-09');
  await expect(run.result()).rejects.toMatchObject({ name: 'PartitionFailed', key: '2024-03-06', failed: 1, done: 9 });
  const before = await fingerprints(db);
  for (const day of days(1, 2, 3, 4, 5, 7, 8, 9, 10)) expect(before.get(day)).toMatchObject(NEW);

  await db.query(`delete from src where amount = 9`);
  const again = await run.retry();
  expect(await again.result()).toMatchObject({ planId, partitions: 10 });
  expect(await scheduledKeys(temporal, run.workflowId)).toEqual(['2024-03-06']);
  expect(changedDays(before, await fingerprints(db))).toEqual(['2024-03-06']);
  expect(await buildCounts(db)).toEqual({
    ...Object.fromEntries(march(1, 10).map((key) => [key, 1])),
    '2024-03-06': 2,
  });
});

/** A second row with the same key. */
async function failing(...keys: readonly string[]): Promise<void> {
  await harness.db.query('insert into src select day::date, 1, 9 from unnest($1::text[]) day', [keys]);
}

function days(...numbers: readonly number[]): string[] {
  return numbers.flatMap((n) => march(n, n));
}

/** Looks at the sessions again and again, and tells how many there were at most. */
function countAtWork() {
  let isOver = false;
  const counting = (async () => {
    let most = 0;
    while (!isOver) most = Math.max(most, (await runSessions(harness.db)).length);
    return most;
  })();
  return {
    stop() {
      isOver = true;
      return counting;
    },
  };
}
