import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/config/define.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { openDirect } from '../support/direct.js';
import { FACT, NEW, factTable, fingerprints } from '../support/fact.js';

/** What a database, or a role, may have set for every session is not what a replacement runs by. */

let db: TestDatabase;
let version: number;
beforeAll(async () => {
  db = await createDatabase();
  const { rows } = await db.query<{ n: number }>(`select current_setting('server_version_num')::int / 10000 as n`);
  version = rows[0]?.n ?? 0;
});
afterEach(async () => {
  await db.query(`alter database "${db.name}" reset all`);
});
afterAll(() => db.drop());

const days = { from: '2024-03-04', to: '2024-03-05' };

test.each<[setting: string, value: string, since?: number]>([
  ['quote_all_identifiers', 'on'],
  ['transaction_timeout', '500ms', 17],
  ['statement_timeout', '100ms'],
  ['lock_timeout', '1'],
  ['idle_in_transaction_session_timeout', '1'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_read_only', 'on'],
  ['datestyle', 'German'],
  ['datestyle', 'SQL, DMY'],
  ['intervalstyle', 'sql_standard'],
  ['timezone', 'Pacific/Apia'],
  ['extra_float_digits', '-15'],
  ['bytea_output', 'escape'],
  ['array_nulls', 'off'],
  ['standard_conforming_strings', 'off'],
  ['transform_null_equals', 'on'],
  ['client_encoding', 'LATIN1'],
  ['client_min_messages', 'debug5'],
  ['plan_cache_mode', 'force_generic_plan'],
  ['enable_partition_pruning', 'off'],
])('%s = %s changes nothing', async (setting, value, since = 0) => {
  if (version < since) return;
  await db.query(`drop table if exists fact, src; ${FACT} drop table fact_20240305`);
  await db.query(`alter database "${db.name}" set ${setting} = '${value}'`);
  for (const strategy of ['delete-insert', 'diff'] as const) {
    const direct = openDirect(db, 2);
    try {
      const { plan } = await direct.run(slow(strategy), days);
      expect(plan.counts).toEqual(
        strategy === 'diff' ? { create: 0, replace: 2, leave: 0 } : { create: 1, replace: 1, leave: 0 },
      );
    } finally {
      await direct.end();
    }
  }
  await db.query(`alter database "${db.name}" reset all`);
  const after = await fingerprints(db);
  for (const day of Object.values(days)) expect(after.get(day)).toMatchObject(NEW);
});

/** Longer than any of the time limits above. */
function slow(strategy: 'delete-insert' | 'diff') {
  return factTable({
    name: 'public.fact',
    strategy,
    build: ({ startDate, endDate }) => sql`
      select day, id, amount from public.src, pg_sleep(0.6) where day >= ${startDate} and day < ${endDate}`,
  });
}
