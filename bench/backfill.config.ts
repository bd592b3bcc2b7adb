import { defineConfig, defineTable, sql } from 'temporal-backfill';

/** What the plain loop writes, too: see `plain-loop.ts`. That keeps nothing of what it replaces. */
export default defineConfig({
  tables: [
    defineTable({
      name: 'public.by_day',
      partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
      keepReplaced: '0',
      reads: ['source_by_day'],
      build: ({ startDate, endDate }) =>
        sql`select day, id, amount from source_by_day where day >= ${startDate} and day < ${endDate}`,
    }),
    defineTable({
      name: 'public.by_hour',
      partitionBy: { column: 'ts', grain: 'hour', timeZone: 'UTC' },
      keepReplaced: '0',
      reads: ['source_by_hour'],
      build: ({ start, end }) => sql`select ts, id, amount from source_by_hour where ts >= ${start} and ts < ${end}`,
    }),
  ],
});
