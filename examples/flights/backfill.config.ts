import { defineConfig, defineTable, everyRow, notNull, rowCount, sql, unique } from 'temporal-backfill';

interface Days {
  readonly name: string;
  readonly description: string;
  readonly timeZone: string;
}

/** One build for both tables: `start` and `end` are instants, and the time zone alone says where a day begins. */
function dailyFlights({ name, description, timeZone }: Days) {
  return defineTable({
    name,
    description,
    owner: 'operations',
    partitionBy: { column: 'day', grain: 'day', timeZone },
    reads: ['raw.flights'],
    build: ({ start, end, startDate }) => sql`
      select ${startDate} as day, origin,
        count(*) as flights,
        count(*) filter (where dep_delay is null) as cancelled,
        round(avg(dep_delay), 1) as mean_departure_delay,
        round(avg(arr_delay), 1) as mean_arrival_delay
      from raw.flights
      where time_hour >= ${start} and time_hour < ${end}
      group by origin`,
    checks: [
      notNull(['day', 'origin', 'flights']),
      unique(['day', 'origin']),
      rowCount({ min: 1, max: 3 }),
      everyRow('cancelled between 0 and flights'),
    ],
  });
}

export default defineConfig({
  database: { url: process.env['DATABASE_URL'] },
  tables: [
    dailyFlights({
      name: 'mart.daily_flights',
      description: 'Flights per day of New York and airport',
      timeZone: 'America/New_York',
    }),
    dailyFlights({
      name: 'mart.daily_flights_utc',
      description: 'Flights per day of UTC and airport',
      timeZone: 'UTC',
    }),
  ],
});
