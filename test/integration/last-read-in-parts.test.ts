import { afterAll, beforeAll, expect, test } from 'vitest';
import { FACT, factTable } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { activityCount } from '../support/history.js';

/** Every look at it is a minute later: each statement of the last read has taken longer than is enough for an attempt. */
let looks = 0;
const now = () => new Date(Date.parse('2024-06-01T00:00Z') + 61_000 * looks++);

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(FACT, { tables: [factTable()], now, pageSize: 4 });
});
afterAll(() => harness.close());

test('a last read that takes long is made in parts, and misses nothing of the last of them', async () => {
  const { client, db, temporal } = harness;
  await db.query(`
    create function lose() returns trigger language plpgsql as $$ begin
      new.row_count = new.row_count - 1; return new; end $$;
    create trigger losing before update on backfill.partition for each row when (new.key = '2024-03-10' and new.row_count = 100)
      execute function lose()`);
  const run = await client.start({ table: 'fact', from: '2024-03-01', to: '2024-03-10' });
  await expect(run.result()).rejects.toMatchObject({
    name: 'VerificationFailed',
    differences: [{ key: '2024-03-10', rowsRecorded: 99, rowsFound: 100 }],
  });
  expect(await activityCount(temporal, run.workflowId, 'verifyPage')).toBe(2);
});
