import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import config from '../../examples/flights/backfill.config.js';
import { checkFlights } from '../../examples/flights/check.js';
import type { Query } from '../../examples/flights/counts.js';
import { FACTS } from '../../examples/flights/facts.js';
import { loadFlights } from '../../examples/flights/load.js';
import { type Harness, createHarness } from '../support/harness.js';

// The example of `npm run example:flights`, with its own loader, definitions and check: a year of real flights.

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness('', { tables: config.tables });
  const client = new pg.Client({ connectionString: harness.db.url });
  await client.connect();
  await loadFlights((text, values) => client.query(text, values));
  await client.end();
});
afterAll(() => harness.close());

/** 731 partitions: half a minute where nothing else runs. */
const TIMEOUT_MS = 300_000;

test('a year of flights, by the days of New York and by those of UTC', { timeout: TIMEOUT_MS }, async () => {
  const query: Query = (statement, values) => harness.db.query(statement, values);
  const runs = FACTS.map(async ({ table, from, to, partitions }) => {
    const run = await harness.client.start({ table, from, to, concurrency: 4, publish: 'any-order' });
    expect(await run.result()).toMatchObject({ partitions });
  });
  await Promise.all(runs);

  const check = await checkFlights(query);
  expect(`\n${check.text}`).toBe(`
  mart.daily_flights                         found   must be
    partitions                                 365       365  ok
    partitions without flights                   0         0  ok
    flights                                336,776   336,776  ok
    flights on 2013-01-01                      842       842  ok
    flights on 2013-03-10                      908       908  ok
    flights on 2013-11-03                      902       902  ok
    days unlike a count of the source            0         0  ok
  mart.daily_flights_utc                     found   must be
    partitions                                 366       366  ok
    partitions without flights                   0         0  ok
    flights                                336,776   336,776  ok
    flights on 2013-03-10                      910       910  ok
    flights on 2013-11-03                      788       788  ok
    flights on 2014-01-01                       88        88  ok
    days unlike a count of the source            0         0  ok`);
  expect(check.isRight).toBe(true);

  // One flight on a day that is not its own: the year still has all of them.
  await harness.db.query(`update mart.daily_flights_utc
    set flights = flights + case day when '2013-11-03' then 1 else -1 end
    where day in ('2013-11-03', '2013-11-04') and origin = 'JFK'`);
  const { isRight, text } = await checkFlights(query);
  expect(text.split('\n').filter((line) => line.endsWith('NOT OK'))).toEqual([
    '    flights on 2013-11-03                      789       788  NOT OK',
    '    days unlike a count of the source            2         0  NOT OK',
  ]);
  expect(isRight).toBe(false);
});
