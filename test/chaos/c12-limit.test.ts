import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TASK_QUEUE, WorkflowType } from '../../src/contract.js';
import { runBackfill, runTemporal } from '../support/commands.js';
import { closeGate, openGate } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { statusOf, terminateOpenRuns } from '../support/history.js';
import { LOGGED_MONTH, mostAtOnce, readAttempts } from '../support/logged-month.js';
import { untilAllAtGates } from '../support/sessions.js';
import { until } from '../support/wait.js';
import { type WorkerChild, startWorkerChild } from '../support/worker-child.js';

const config = fileURLToPath(new URL('../fixtures/logged-month/backfill.config.ts', import.meta.url));
const request = {
  table: 'month',
  from: '2024-03-01',
  to: '2024-03-30',
  concurrency: 3,
  publish: 'any-order',
} as const;
const workflowId = 'c12';

let harness: Harness;
let workers: WorkerChild[];
beforeEach(async () => {
  harness = await createHarness(LOGGED_MONTH, null);
  workers = [await startWorker(), await startWorker()];
});
afterEach(async () => {
  await terminateOpenRuns(harness.temporal);
  for (const worker of workers) {
    worker.signal('SIGKILL');
    await worker.ended;
  }
  await harness.close();
});

const entrances = [
  {
    name: 'the Temporal CLI',
    start: () =>
      runTemporal(
        harness.env,
        ...words(
          `workflow start --type ${WorkflowType.backfill} --task-queue ${TASK_QUEUE} --workflow-id ${workflowId}`,
        ),
        '--input',
        JSON.stringify(request),
      ),
  },
  {
    name: 'the backfill CLI',
    start: () =>
      runBackfill(
        harness.env,
        ...words(`start month --from ${request.from} --to ${request.to} --concurrency 3 --publish any-order`),
        ...words(`--workflow-id ${workflowId} --yes --detach`),
      ),
  },
  { name: 'the client', start: () => harness.client.start(request, { workflowId }) },
];

test.each(entrances)('C12 never more than the limit at work over two workers, started by $name', async ({ start }) => {
  const { db } = harness;
  await closeGate(db, ...days(3, 14, 15));
  await start();

  // A day that takes long keeps one of three slots, and nobody waits for it: a batch of three would not go on.
  expect(await untilAllAtGates(db, days(3, 14, 15))).toEqual(days(3, 14, 15));
  const [first] = workers;
  first?.signal('SIGKILL');
  await first?.ended;
  workers = [...workers.slice(1), await startWorker()];
  await openGate(db, ...days(14, 15));
  await until('a day behind the ones that were struck', async () => hasEnded(18));
  await openGate(db, '2024-03-03');

  await until('the end of the run', async () => (await statusOf(harness.temporal, workflowId)) !== 'RUNNING');
  expect(await statusOf(harness.temporal, workflowId)).toBe('COMPLETED');
  const attempts = await readAttempts(db);
  expect(mostAtOnce(attempts)).toBe(3);
  expect(attempts.filter(({ day }) => day === 20)).toHaveLength(3);
  const { rows } = await db.query('select count(*)::int as rows, count(distinct day)::int as days from month');
  expect(rows).toEqual([{ rows: 150, days: 30 }]);
});

function words(text: string): string[] {
  return text.split(' ');
}

function startWorker(): Promise<WorkerChild> {
  return startWorkerChild(harness, { config, env: { BACKFILL_POOL_SIZE: '20' } });
}

function days(...numbers: readonly number[]): string[] {
  return numbers.map((n) => `2024-03-${String(n).padStart(2, '0')}`);
}

async function hasEnded(day: number): Promise<boolean> {
  return (await readAttempts(harness.db)).some((one) => one.day === day && one.end !== null);
}
