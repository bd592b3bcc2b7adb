import { beforeEach, describe, expect, test } from 'vitest';
import { strategies } from '../support/fact.js';
import { closeGate, gatedFact, openGate } from '../support/gate.js';
import { statusOf } from '../support/history.js';
import { runState } from '../support/ledger.js';
import { untilAtGate } from '../support/sessions.js';
import { useGatedFact } from '../support/use-gated-fact.js';

describe.each(strategies)('%s', (strategy) => {
  const { harness } = useGatedFact([gatedFact({ strategy })]);
  /** Half of the rows are right already: strategy diff keeps them, of an earlier transaction as they are. */
  beforeEach(async () => {
    await harness.db.query('update src set amount = 1 where id > 50');
  });

  const THIRD = { key: '2024-03-03', rowsRecorded: 100, rowsFound: 100, rowsOfOthers: 0 };

  const cases = [
    {
      what: 'a row deleted',
      sql: `delete from fact where day = '2024-03-03' and id = 7`,
      difference: { ...THIRD, rowsFound: 99 },
    },
    {
      what: 'a row added',
      sql: `insert into fact values ('2024-03-03', 1000, 5)`,
      difference: { ...THIRD, rowsFound: 101, rowsOfOthers: 1 },
    },
    {
      what: 'a row changed',
      sql: `update fact set amount = 9 where day = '2024-03-03' and id = 7`,
      difference: { ...THIRD, rowsOfOthers: 1 },
    },
    {
      what: 'a row changed that was right before',
      sql: `update fact set amount = 9 where day = '2024-03-03' and id = 77`,
      difference: { ...THIRD, rowsOfOthers: 1 },
    },
    {
      what: 'the old partition restored',
      sql: `delete from fact where day = '2024-03-03';
          insert into fact select '2024-03-03', i, 1.00 from generate_series(1, 100) i`,
      difference: { ...THIRD, rowsOfOthers: 100 },
    },
    {
      what: 'the record of a replacement lost',
      sql: `delete from backfill.replacement where key = '2024-03-03'`,
      difference: { ...THIRD, rowsRecorded: 0 },
    },
  ];

  test.each(cases)(
    '$what behind the back of a run fails it, and the partition is named',
    async ({ sql, difference }) => {
      const { db, client } = harness;
      await closeGate(db, '2024-03-05');
      const run = await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-05' });
      const { planId } = await untilAtGate(db, '2024-03-05');
      await db.query(sql);
      await openGate(db, '2024-03-05');

      await expect(run.result()).rejects.toMatchObject({
        name: 'VerificationFailed',
        count: 1,
        differences: [difference],
        message: expect.stringContaining('2024-03-03'),
      });
      expect(await statusOf(harness.temporal, run.workflowId)).toBe('FAILED');
      expect(await runState(db, planId)).toBe('failed');
    },
  );

  test('a partition that another run has written meanwhile, and recorded, is no difference', async () => {
    const { db, client } = harness;
    await closeGate(db, '2024-03-05');
    const run = await client.start({ table: 'fact', from: '2024-03-04', to: '2024-03-05' });
    await untilAtGate(db, '2024-03-05');
    // As a daily run does, which takes no claim.
    await db.query(`begin; update fact set amount = 3 where day = '2024-03-04';
    update backfill.partition set generation = generation + 1, xid = pg_current_xact_id() where key = '2024-03-04'; commit`);
    await openGate(db, '2024-03-05');
    expect(await run.result()).toMatchObject({ partitions: 2 });
  });

  test('rows that were right before are no difference', async () => {
    const { changes } = await (
      await harness.client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-05' })
    ).result();
    if (strategy === 'diff') expect(changes).toMatchObject({ changed: 250, unchanged: 250, added: 0, removed: 0 });
  });
});
