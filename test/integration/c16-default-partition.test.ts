import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { FACT, NEW, factTable, fingerprints, march, strategies } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

const DEFAULT = `
create table fact_default partition of fact default;
insert into fact values ('1999-01-01', 1, 7);`;

describe.each(strategies)('%s', (strategy) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await createHarness('', { tables: [factTable({ strategy })] });
  });
  beforeEach(() => harness.db.query(`drop table if exists fact, src cascade; ${FACT} ${DEFAULT}`));
  afterAll(() => harness.close());

  /** Its rows go where nothing else holds them. */
  async function detach(...days: readonly string[]): Promise<void> {
    for (const day of days) {
      const leaf = `fact_${day.replaceAll('-', '')}`;
      await harness.db.query(`alter table fact detach partition ${leaf}; drop table ${leaf}`);
      await harness.db.query(`insert into fact select '${day}', i, 7 from generate_series(501,505) i`);
    }
  }

  async function inDefault(): Promise<string[]> {
    const { rows } = await harness.db.query<{ day: string }>('select day from only fact_default order by day');
    return rows.map(({ day }) => day);
  }

  test('C16 a day whose rows sit in the default partition ends with the new rows alone, the others stay there', async () => {
    const { db, client } = harness;
    await detach('2024-03-05');
    const before = await fingerprints(db);
    const run = await client.start({ table: 'fact', from: '2024-03-04', to: '2024-03-06' });
    expect(await run.result()).toMatchObject({ partitions: 3, rowsBefore: 205, rowsAfter: 300 });
    const after = await fingerprints(db);
    expect(changedDays(before, after)).toEqual(march(4, 6));
    for (const day of march(4, 6)) expect(after.get(day)).toMatchObject(NEW);
    expect(await inDefault()).toEqual(['1999-01-01']);
  });

  test('C16 days created side by side beside a default partition take turns, and none fails or is tried again', async () => {
    const { db, client } = harness;
    await detach(...march(2, 9));
    const request = {
      table: 'fact',
      from: '2024-03-01',
      to: '2024-03-10',
      concurrency: 8,
      publish: 'any-order',
    } as const;
    const run = await client.start(request);
    const { planId } = await run.result();
    const after = await fingerprints(db);
    for (const day of march(1, 10)) expect(after.get(day)).toMatchObject(NEW);
    expect(await inDefault()).toEqual(['1999-01-01']);
    const { rows } = await db.query('select key from backfill.replacement where plan_id = $1 and attempt > 1', [
      planId,
    ]);
    expect(rows).toEqual([]);
  });
});
