import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Plan } from '../../src/domain/plan.js';
import { changedDays } from '../support/changed-days.js';
import { fingerprints, march } from '../support/fact.js';
import { GATED_FACT, buildCounts, gatedFact, resetFact } from '../support/gate.js';
import { type Harness, createHarness } from '../support/harness.js';
import { replacedKeys, runState } from '../support/ledger.js';

const request = { table: 'fact', from: '2024-03-03', to: '2024-03-06' };

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(GATED_FACT, { tables: [gatedFact()] });
});
beforeEach(() => resetFact(harness.db));
afterAll(() => harness.close());

interface Change {
  readonly what: string;
  readonly named: string;
  readonly make: () => Promise<unknown>;
}

const changes: readonly Change[] = [
  {
    what: 'a column was added',
    named: 'the table itself (new: note text)',
    make: () => harness.db.query('alter table fact add column note text'),
  },
  {
    what: 'a partition was dropped',
    named: '2024-03-05: its partition is gone',
    make: () => harness.db.query('drop table fact_20240305'),
  },
  {
    what: 'a partition was put in the place of another',
    named: '2024-03-05: its partition is another table, or was rewritten',
    make: () =>
      harness.db.query(`drop table fact_20240305;
        create table fact_20240305 partition of fact for values from ('2024-03-05') to ('2024-03-06')`),
  },
  {
    what: 'a partition was rewritten',
    named: '2024-03-04: its partition is another table, or was rewritten',
    make: () => harness.db.query('vacuum full fact_20240304'),
  },
  {
    what: 'another run wrote a partition',
    named: '2024-03-06: written since (generation ',
    make: async () => {
      const other = await harness.client.start({ table: 'fact', from: '2024-03-06', to: '2024-03-06' });
      await other.result();
    },
  },
  {
    what: 'a function that the build uses was replaced',
    named: 'a view or function that the build uses',
    make: () =>
      harness.db.query(
        `create or replace function pass_gate(wanted text) returns boolean language sql as 'select true'`,
      ),
  },
];

test.each(changes)('C25 a plan is refused when $what since it was made', async ({ named, make }) => {
  const { db, client } = harness;
  const plan = await client.plan(request);
  await make();
  const [before, built] = [await fingerprints(db), await buildCounts(db)];

  await expectDrift(plan, named);
  expect(changedDays(before, await fingerprints(db))).toEqual([]);
  expect(await buildCounts(db)).toEqual(built);
  expect(await replacedKeys(db, plan.planId)).toEqual([]);
  expect(await runState(db, plan.planId)).toBeUndefined();
});

test('a plan that nothing has touched runs', async () => {
  const { db, client } = harness;
  const before = await fingerprints(db);
  const plan = await client.plan(request);
  // Rows alone leave no trace in catalog or ledger: that is not seen, and the README says so.
  await db.query(`update fact set amount = 5 where day = '2024-03-09'`);
  const run = await client.start({ plan: plan.planId });
  expect(await run.result()).toMatchObject({ planId: plan.planId, partitions: 4 });
  expect(changedDays(before, await fingerprints(db))).toEqual([...march(3, 6), '2024-03-09']);
});

async function expectDrift({ planId }: Plan, named: string): Promise<void> {
  const run = await harness.client.start({ plan: planId });
  await expect(run.result()).rejects.toMatchObject({
    name: 'BackfillRefused',
    type: 'PlanDrift',
    message: expect.stringContaining(named),
  });
}
