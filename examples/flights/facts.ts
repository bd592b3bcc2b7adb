/** A table, the range that is backfilled, and what must come out. */
export interface Facts {
  readonly table: string;
  /** What its days are of. */
  readonly timeZone: string;
  /** Both days included. */
  readonly from: string;
  readonly to: string;
  readonly partitions: number;
  /** Of the whole year. */
  readonly flights: number;
  readonly flightsOn: Readonly<Record<string, number>>;
}

/** Counted from the file without this software. On 10 March New York's day has 23 hours, on 3 November 25. */
export const FACTS: readonly Facts[] = [
  {
    table: 'mart.daily_flights',
    timeZone: 'America/New_York',
    from: '2013-01-01',
    to: '2013-12-31',
    partitions: 365,
    flights: 336_776,
    flightsOn: { '2013-01-01': 842, '2013-03-10': 908, '2013-11-03': 902 },
  },
  {
    table: 'mart.daily_flights_utc',
    timeZone: 'UTC',
    from: '2013-01-01',
    // The last evening of the year is in the next one, in UTC.
    to: '2014-01-01',
    partitions: 366,
    flights: 336_776,
    flightsOn: { '2013-03-10': 910, '2013-11-03': 788, '2014-01-01': 88 },
  },
];

/** The name that its run has by default. */
export function runOf({ table, from, to }: Facts): string {
  return `backfill/${table}/${from}..${to}`;
}
