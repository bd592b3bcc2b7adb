import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../support/database.js';
import { FACT, factTable, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { type MessageCounter, startMessageCounter } from '../support/message-counter.js';
import { readChain } from '../support/run-chain.js';

/** Of twenty days the first ten are there, the others are made. */
const DAYS = 20;
const SCHEMA = `${FACT}
insert into src select d::date, i, 2.00 from generate_series(date '2024-03-11', date '2024-06-08', interval '1 day') d, generate_series(1,100) i;`;

let harness: Harness;
let counter: MessageCounter;
beforeAll(async () => {
  const db = await createDatabase();
  counter = await startMessageCounter(db.url);
  harness = await createHarness(SCHEMA, { tables: [factTable()] }, { db, workerDatabaseUrl: counter.url });
  // Both what it creates and what it replaces, one after the other.
  await run({ concurrency: 1 });
});
afterAll(async () => {
  await harness.close();
  await counter.close();
});

/** Upper bounds, met exactly when they were written: lower them when it gets cheaper. Every partition pays for a higher one. */
describe('what goes over the wire for one partition', () => {
  test('that is there', () => {
    // Messages: begin, delete, insert, count, record, commit, discard. With the begin go 17 settings and looks at the
    // session, 4 statements that admit the attempt and one for the table's shape; with the delete, the search path.
    expect(mostOf(0, 10, 'roundTrips')).toBeLessThanOrEqual(7);
    expect(mostOf(0, 10, 'statements')).toBeLessThanOrEqual(30);
  });

  test('that is missing', () => {
    // Besides: find its place, create it; analyze and attach it, in one message.
    expect(mostOf(10, DAYS, 'roundTrips')).toBeLessThanOrEqual(10);
    expect(mostOf(10, DAYS, 'statements')).toBeLessThanOrEqual(34);
  });

  function mostOf(start: number, end: number, what: 'roundTrips' | 'statements'): number {
    const some = counter.replacements.slice(start, end).map((one) => one[what]);
    expect(some).toHaveLength(end - start);
    // A counter that sees nothing would be content with everything.
    expect(Math.min(...some)).toBeGreaterThan(0);
    return Math.max(...some);
  }
});

describe('what Temporal keeps of a run of 20 partitions', () => {
  /** Activities of the run as a whole: plan, open, page, statistics, last read, close. */
  const STEPS = 6;
  /** Start and end, the memo, the search attributes of three states. */
  const ASIDES = 6;

  test.each([{ concurrency: 1 }, { concurrency: 4, publish: 'any-order' as const }])(
    'at concurrency $concurrency: an activity is three events, and one workflow task at most',
    async (options) => {
      const events = await run(options);
      const others = events.filter((name) => !name.startsWith('workflowTask'));
      expect(others.length).toBeLessThanOrEqual(3 * (DAYS + STEPS) + ASIDES);
      // A task that ran out of time is scheduled again, on a machine that is busy; it is completed once.
      const tasks = events.filter((name) => name === 'workflowTaskCompletedEventAttributes');
      expect(tasks.length).toBeLessThanOrEqual(1 + DAYS + STEPS);
      expect(events.filter((name) => name === 'activityTaskCompletedEventAttributes')).toHaveLength(DAYS + STEPS);
    },
  );
});

test('of 100 small partitions, most share an activity', async () => {
  const events = await run({ concurrency: 1, to: '2024-06-08' });
  const activities = events.filter((name) => name === 'activityTaskCompletedEventAttributes').length;
  // On a machine at rest 25 or so; on a slow one a second holds less.
  expect(activities).toBeLessThan(70);
});

interface Options {
  readonly concurrency: number;
  readonly publish?: 'any-order';
  /** Instead of the last of the twenty days. */
  readonly to?: string;
}

/** @returns the kind of each event, as the name of its attributes */
async function run(options: Options): Promise<string[]> {
  const { client, temporal } = harness;
  const [from = '', to = ''] = [march(1, DAYS).at(0), march(1, DAYS).at(-1)];
  const { workflowId, ...handle } = await client.start({ table: 'fact', from, to, ...options });
  await handle.result();
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  const firstExecutionRunId = raw.workflowExecutionInfo?.firstRunId ?? '';
  const chain = await readChain(temporal, { workflowId, firstExecutionRunId });
  return chain.flatMap(({ events }) =>
    (events ?? []).map(
      (event) => Object.entries(event).find(([name, value]) => name.endsWith('Attributes') && value)?.[0] ?? '',
    ),
  );
}
