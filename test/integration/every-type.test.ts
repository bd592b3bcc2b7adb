import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineTable, sql } from '../../src/config/define.js';
import { createDatabase } from '../support/database.js';
import { strategies } from '../support/fact.js';
import { EVERY_TYPE, OWN_TYPES } from '../support/every-type.js';
import { type Harness, createHarness } from '../support/harness.js';

const types = Object.keys(EVERY_TYPE);
const columns = types.map((type, i) => `c${i} ${type}`).join(', ');

/** What a role may have set, each of which changes how values are printed or read. */
const SETTINGS = [
  'datestyle=German',
  'intervalstyle=sql_standard',
  'extra_float_digits=-15',
  'bytea_output=escape',
  'timezone=Asia/Kathmandu',
  'array_nulls=off',
  'standard_conforming_strings=off',
  'synchronous_commit=off',
  'lc_monetary=C',
  'xmlbinary=hex',
  'default_transaction_isolation=serializable',
  'backslash_quote=off',
  'transform_null_equals=on',

  'client_min_messages=debug1',
];

const table = defineTable({
  name: 'target',
  partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
  build: ({ startDate, endDate }) => sql`select * from source where day >= ${startDate} and day < ${endDate}`,
});

describe.each(strategies)('%s', (strategy) => {
  let harness: Harness;
  beforeAll(async () => {
    const db = await createDatabase();
    const inserts = types.flatMap((type, i) =>
      ['null', ...(EVERY_TYPE[type] ?? [])].map(
        (value, n) =>
          `insert into source (day, id, c${i}) values ('2024-03-0${1 + (n % 3)}', ${i * 100 + n}, ${value});`,
      ),
    );
    const schema = `${OWN_TYPES}
    create table source (day date, id int, ${columns});
    create table target (${columns}, id int, day date, primary key (day, id)) partition by range (day);
    ${inserts.join('\n')}`;
    const options = SETTINGS.map((setting) => `-c ${setting}`).join(' ');
    const workerDatabaseUrl = `${db.url}?options=${encodeURIComponent(options)}`;
    harness = await createHarness(schema, { tables: [{ ...table, strategy }] }, { db, workerDatabaseUrl });
  });
  afterAll(() => harness.close());

  test('a value of every type arrives as it was, bit for bit, whatever the role has set', async () => {
    const { client, db } = harness;
    const request = { table: 'target', from: '2024-03-01', to: '2024-03-03', reason: 'every type' };
    expect(await (await client.start(request)).result()).toMatchObject({ partitions: 3 });
    await arrived();
    // What was written is replaced, and every type is compared: with itself, with null, and with no row.
    await db.query(`update target set ${types.map((_, i) => `c${i} = null`).join(', ')} where day = '2024-03-02'`);
    await db.query(`delete from target where day = '2024-03-03'`);
    const rows = await db.query<{ n: number }>(`select count(*)::int as n from source group by day order by day`);
    const [first, second, third] = rows.rows.map(({ n }) => n);
    const { changes } = await (await client.start(request)).result();
    if (strategy === 'diff') {
      expect(changes).toMatchObject({ unchanged: first, changed: second, added: third, removed: 0 });
    }
    await arrived();
  });

  async function arrived() {
    const { db } = harness;
    for (const [i, type] of types.entries()) {
      const bits = (name: string) =>
        db.query(
          `select id, encode(record_send(row(c${i})), 'hex') as bits from ${name} where id / 100 = ${i} order by id`,
        );
      const [source, target] = [await bits('source'), await bits('target')];
      expect(target.rows, type).toEqual(source.rows);
      expect(target.rowCount, type).toBe((EVERY_TYPE[type]?.length ?? 0) + 1);
    }
  }
});
