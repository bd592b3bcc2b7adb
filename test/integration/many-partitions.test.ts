import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.js';
import { type Database, openDatabase } from '../../src/postgres/database.js';
import { partitionOf } from '../../src/domain/range.js';
import { inTransaction } from '../../src/postgres/transaction.js';
import { findDifferences } from '../../src/postgres/verify.js';
import { type TestDatabase, createDatabase } from '../support/database.js';
import { FACT, factTable, march } from '../support/fact.js';

/**
 * A transaction that locks every partition of its table cannot be had where there are many: a server has room for 6,400
 * locks, a partition and its index are two. So what is known of a partition has to be in the text of the statement.
 */

let db: TestDatabase;
let database: Database;
beforeAll(async () => {
  db = await createDatabase();
  await db.query(FACT);
  database = openDatabase({ url: db.url, size: 1 });
});
afterAll(async () => {
  await database.close();
  await db.drop();
});

test('the last read locks the partitions that it reads, and no other', async () => {
  const [definition] = parseConfig({ tables: [factTable()] }).definitions;
  if (!definition) throw new Error('There is no definition');
  const wanted = march(3, 4).map((key) => partitionOf(definition.partitioning, key));
  const timeouts = { attemptMs: 10_000, lockMs: 1_000 };
  const { found, locked } = await inTransaction(
    database,
    { applicationName: 'test', timeouts, readOnly: true },
    async (tx) => ({
      found: await findDifferences(tx, { definition, planId: '00000000-0000-0000-0000-000000000000' }, 'date', wanted),
      locked: await tx.query<{ name: string }>(
        `select distinct c.relname as name from pg_locks l join pg_class c on c.oid = l.relation
          where l.pid = pg_backend_pid() and c.relname like 'fact\\_________' order by 1`,
      ),
    }),
  );
  // No run wrote them.
  expect(found.map(({ key, rowsFound }) => [key, rowsFound])).toEqual(march(3, 4).map((key) => [key, 100]));
  expect(locked.rows.map(({ name }) => name)).toEqual(['fact_20240303', 'fact_20240304']);
});
