import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { FACT, NEW, factTable, fingerprints, strategies } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

const DAY = { table: 'fact', from: '2024-03-05', to: '2024-03-05' };

describe.each(strategies)('%s', (strategy) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await createHarness(FACT, { tables: [factTable({ strategy })] });
  });
  afterAll(() => harness.close());

  test('C19 a row of another day fails the day, says how many and which, and changes nothing', async () => {
    await harness.restartWorker({
      tables: [
        factTable({
          strategy,
          build: ({ startDate, endDate }) => sql`
          select case when id = 7 then ${endDate} else day end as day, id, amount
          from src where day >= ${startDate} and day < ${endDate}`,
        }),
      ],
    });
    const before = await fingerprints(harness.db);
    const failing = (await harness.client.start(DAY)).result();
    await expect(failing).rejects.toMatchObject({
      key: '2024-03-05',
      failure: { type: 'StrayRows', message: expect.stringContaining('1 rows of the build lie outside') },
    });
    await expect(failing).rejects.toMatchObject({ failure: { message: expect.stringContaining('day = 2024-03-06') } });
    expect(await fingerprints(harness.db)).toEqual(before);
  });

  test('C19 a null key fails the day', async () => {
    await harness.restartWorker({
      tables: [
        factTable({
          strategy,
          build: ({ startDate, endDate }) => sql`
          select nullif(day, ${startDate}) as day, id, amount from src where day >= ${startDate} and day < ${endDate}`,
        }),
      ],
    });
    const before = await fingerprints(harness.db);
    await expect((await harness.client.start(DAY)).result()).rejects.toMatchObject({
      failure: { type: 'StrayRows', message: expect.stringContaining('100 rows of the build lie outside') },
    });
    expect(await fingerprints(harness.db)).toEqual(before);
  });

  /** PostgreSQL asks the cheapest condition first, unless it is kept from mixing ours with the build's. */
  test('C19 rows that the build itself leaves out are not astray, however dear its own condition is', async () => {
    await harness.db.query(`
    create function is_wanted(day date, wanted date) returns boolean language plpgsql cost 1000000
      as 'begin return day = wanted; end'`);
    await harness.restartWorker({
      tables: [
        factTable({
          strategy,
          build: ({ startDate }) => sql`select day, id, amount from src where is_wanted(day, ${startDate})`,
        }),
      ],
    });
    expect(await (await harness.client.start(DAY)).result()).toMatchObject({ partitions: 1, rowsAfter: 100 });
    expect((await fingerprints(harness.db)).get('2024-03-05')).toMatchObject(NEW);
  });

  test('C19 a row of another day is seen where the build counts or cuts its rows', async () => {
    const builds = [
      sql`select day, id, amount from src order by day desc, id limit 1`,
      sql`select distinct on (id) day, id, amount from src order by id, day`,
      sql`select max(day) as day, id, sum(amount) as amount from src group by id`,
    ];
    const before = await fingerprints(harness.db);
    for (const build of builds) {
      await harness.restartWorker({ tables: [factTable({ strategy, build: () => build })] });
      await expect((await harness.client.start(DAY)).result()).rejects.toMatchObject({
        failure: { type: 'StrayRows' },
      });
    }
    expect(await fingerprints(harness.db)).toEqual(before);
  });
});
