import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FACT, NEW, OLD, factTable, fingerprints, march, strategies } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

const DAY = '2024-03-04';
const READ = `select count(*)::int as rows, sum(amount)::text as sum from fact where day = '${DAY}'`;

describe.each(strategies)('%s', (strategy) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await createHarness(FACT, { tables: [factTable({ strategy })] });
  });
  afterAll(() => harness.close());

  test('an older snapshot goes on seeing the old day, whole, after the new one is published', async () => {
    const readers = await Promise.all([openSnapshot('touched'), openSnapshot('untouched')]);
    await (await harness.client.start({ table: 'fact', from: DAY, to: DAY })).result();
    for (const reader of readers) {
      expect((await reader.query(READ)).rows).toEqual([OLD]);
      await reader.query('commit');
      expect((await reader.query(READ)).rows).toEqual([NEW]);
      await reader.end();
    }
  });

  test('an exported snapshot, as pg_dump takes it, holds the old day in every session that uses it', async () => {
    await harness.db.query(`update fact set amount = 1 where day = '${DAY}'`);
    const exporter = await openSnapshot('touched');
    const { rows } = await exporter.query<{ id: string }>('select pg_export_snapshot() as id');
    await (await harness.client.start({ table: 'fact', from: DAY, to: DAY })).result();
    const dump = await connect();
    await dump.query(`begin isolation level repeatable read read only; set transaction snapshot '${rows[0]?.id}'`);
    // What pg_dump sends for the data of a partition.
    const copied = await dump.query(`select count(*)::int as rows, sum(amount)::text as sum from only fact_20240304`);
    expect(copied.rows).toEqual([OLD]);
    await Promise.all([dump.end(), exporter.end()]);
  });

  test('a transaction that has read the table and stays open does not hold up a run', async () => {
    const reader = await openSnapshot('touched');
    await (await harness.client.start({ table: 'fact', from: march(1, 1)[0] ?? '', to: DAY })).result();
    expect((await fingerprints(harness.db)).get(DAY)).toMatchObject(NEW);
    await reader.end();
  });

  /** A session whose snapshot is older than the run; it has read the table already, or not yet. */
  async function openSnapshot(table: 'touched' | 'untouched'): Promise<pg.Client> {
    const client = await connect();
    await client.query('begin isolation level repeatable read');
    await client.query(table === 'touched' ? READ : 'select 1 from pg_catalog.pg_class limit 1');
    return client;
  }

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: harness.db.url });
    await client.connect();
    return client;
  }
});
