import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineTable, sql } from '../../src/config/define.js';
import { strategies } from '../support/fact.js';
import { type Harness, type TableInput, createHarness } from '../support/harness.js';

const INV = `
create table inv (day date not null, gross numeric(12,2), net numeric(12,2), note text, primary key (day)) partition by range (day);
create table inv_20240305 partition of inv for values from ('2024-03-05') to ('2024-03-06');`;

const DAY = { table: 'inv', from: '2024-03-05', to: '2024-03-05' };

describe.each(strategies)('%s', (strategy) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await createHarness(INV, { tables: [inv(`100.00 as net, 119.00 as gross, null::text as note`)] });
  });
  afterAll(() => harness.close());

  test('C18 columns are matched by name, not by position', async () => {
    await (await harness.client.start(DAY)).result();
    const { rows } = await harness.db.query('select gross, net, note from inv');
    expect(rows).toEqual([{ gross: '119.00', net: '100.00', note: null }]);
  });

  test.each([
    ['an extra column', `100.00 as net, 119.00 as gross, null::text as note, 19.00 as tax`, 'does not have: tax'],
    ['a missing column', `100.00 as net, 119.00 as gross`, 'does not give a column of the table: note'],
    [
      'a column of a type that does not fit',
      `100.00 as net, '{}'::jsonb as gross, null::text as note`,
      'column "gross" is of type numeric but expression is of type jsonb',
    ],
    ['a column twice', `100.00 as net, 1.00 as net, 119.00 as gross, null::text as note`, 'net'],
  ])('C18 %s is refused in the plan with its name', async (_what, columns, words) => {
    await harness.restartWorker({ tables: [inv(columns)] });
    const plan = await harness.client.plan(DAY);
    expect(plan.refusals.join('\n')).toContain(words);
    await expect((await harness.client.start(DAY)).result()).rejects.toMatchObject({ type: 'InvalidRequest' });
    expect((await harness.db.query('select net from inv')).rows).toEqual([{ net: '100.00' }]);
  });

  function inv(columns: string): TableInput {
    const build = { strings: [`select `, ` as day, ${columns}`], values: [{ backfillBound: 'startDate' }] };
    return defineTable({
      name: 'inv',
      strategy,
      partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
      build: () => Object.assign(sql``, build),
    });
  }
});
