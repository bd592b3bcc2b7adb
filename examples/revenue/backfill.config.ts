import { defineConfig, defineTable, everyRow, noRows, notNull, rowCount, sql, unique } from 'temporal-backfill';

// A second a day in the demo, so that there is something to watch, and to kill. Nothing otherwise.
const pauseSeconds = Number(process.env['BACKFILL_DEMO_PAUSE'] ?? 0);

const dailyRevenue = defineTable({
  name: 'mart.daily_revenue',
  description: 'Orders and revenue in euros, per UTC day and currency of the order',
  owner: 'finance',
  partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
  reads: ['raw.orders', 'raw.ecb_rates'],
  // All orders of a day and currency share one rate, so their amounts are added up first, which is exact, then divided
  // and rounded once. Rounding each order instead would be off by up to half a cent per order.
  // The ECB publishes on working days only: week-ends and holidays take the last rate before them.
  build: ({ start, end, startDate }) => sql`
    select ${startDate} as day, sold.currency, sold.orders,
      round(sold.amount / rate.units_per_euro, 2) as revenue
    from (
      select currency, count(*) as orders, sum(amount) as amount
      from raw.orders
      where ordered_at >= ${start} and ordered_at < ${end}
      group by currency
    ) sold
    cross join lateral (
      select units_per_euro
      from raw.ecb_rates
      where currency = sold.currency and day <= ${startDate}
      order by day desc
      limit 1
    ) rate
    cross join pg_sleep(${pauseSeconds})`,
  reports: [{ name: 'Revenue dashboard', owner: 'finance', url: 'https://dashboards.example/revenue' }],
  checks: [
    notNull(['day', 'currency', 'revenue']),
    unique(['day', 'currency']),
    rowCount({ min: 1 }),
    everyRow('revenue >= 0'),
    // The join above drops a currency that has no rate, and its revenue with it. Currencies are compared, not numbers of
    // orders: an order that arrives between the build and this check is no fault of the build.
    noRows(
      'every currency had a rate',
      ({ rows, start, end }) => sql`
        select o.currency, count(*) as orders
        from raw.orders o
        where o.ordered_at >= ${start} and o.ordered_at < ${end}
          and not exists (select from ${rows} r where r.currency = o.currency)
        group by o.currency`,
    ),
  ],
});

export default defineConfig({
  database: { url: process.env['DATABASE_URL'] },
  tables: [dailyRevenue],
});
