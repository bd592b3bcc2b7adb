import { defineConfig, defineTable, sql } from 'temporal-backfill';
import { tables } from './size-tables.js';

/** One row a partition, unless the partition is named in `fault`: that one divides by zero. */
export default defineConfig({
  tables: Object.values(tables).map(({ name, grain }) =>
    defineTable({
      name,
      partitionBy: { column: 'at', grain, timeZone: 'UTC' },
      reads: ['fault'],
      build: ({ startValue, key }) =>
        sql`select ${startValue} as at, 1 / case when exists (select from fault f where f.key = ${key}) then 0 else 1 end as n`,
    }),
  ),
});
