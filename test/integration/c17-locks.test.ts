import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FACT, NEW, factTable, fingerprints, strategies } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { until } from '../support/wait.js';

const DAY = '2024-03-04';

/** What a session may hold; where the run has to wait for it, the lock that it waits for. */
const holds = [
  { what: 'has read the table', statement: 'select count(*) from fact', awaits: null },
  {
    what: 'has changed a row of the day',
    statement: `update fact set amount = 7 where day = '${DAY}' and id = 7`,
    awaits: `locktype = 'transactionid'`,
  },
  {
    what: 'has read the default partition, beside which the day is created',
    prepare: `create table fact_default partition of fact default; drop table fact_20240304;
              insert into fact select '${DAY}', i, 1 from generate_series(1, 100) i;`,
    statement: 'select count(*) from fact',
    awaits: `mode = 'AccessExclusiveLock' and relation = 'fact_default'::regclass`,
  },
] as const;

describe.each(strategies)('%s', (strategy) => {
  let harness: Harness;
  let holder: pg.Client;
  let other: pg.Client;
  beforeAll(async () => {
    const table = factTable({ strategy, timeouts: { lock: '200ms' } });
    harness = await createHarness('', { tables: [table] });
  });
  beforeEach(async () => {
    await harness.db.query(`drop table if exists fact, src cascade; ${FACT}`);
    [holder, other] = [await connect(), await connect()];
    await other.query(`set statement_timeout = '2s'`);
  });
  afterEach(() => Promise.all([holder.end(), other.end()]));
  afterAll(() => harness.close());

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: harness.db.url });
    await client.connect();
    return client;
  }

  /** A statement that has to wait longer is ended by its timeout, and fails the test. */
  async function othersAnswer(id: number) {
    const { rows } = await other.query(`select count(*)::int as n from fact where day = '2024-03-01'`);
    expect(rows).toEqual([{ n: 100 }]);
    await other.query(`insert into fact values ('2024-03-10', $1, 1)`, [id]);
  }

  test.each(holds)('C17 a session that $what holds up nobody but the run', async ({ statement, awaits, ...more }) => {
    const { db, client, temporal } = harness;
    if ('prepare' in more) await db.query(more.prepare);
    await holder.query('begin');
    await holder.query(statement);
    const run = await client.start({ table: 'fact', from: DAY, to: DAY });
    if (awaits === null) {
      expect(await run.result()).toMatchObject({ partitions: 1, rowsAfter: 100 });
      await othersAnswer(1001);
      await holder.query('rollback');
    } else {
      const attempt = async () => {
        const { raw } = await temporal.workflow.getHandle(run.workflowId).describe();
        return raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'replacePartition')?.attempt;
      };
      for (const id of [1001, 1002]) {
        await until('an attempt that waits for its lock', async () => {
          const { rowCount } = await db.query(`select from pg_locks where not granted and ${awaits}`);
          return (rowCount ?? 0) > 0;
        });
        await othersAnswer(id);
      }
      // Waiting in vain is no failure, however often.
      await until('a third attempt', async () => ((await attempt()) ?? 0) >= 3);
      await othersAnswer(1003);
      await holder.query('rollback');
      expect(await run.result()).toMatchObject({ partitions: 1, rowsBefore: 100, rowsAfter: 100 });
    }
    expect((await fingerprints(db)).get(DAY)).toMatchObject(NEW);
    expect((await db.query('select from pg_locks where not granted')).rowCount).toBe(0);
  });
});
