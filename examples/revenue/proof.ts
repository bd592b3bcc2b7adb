/** Runs one statement. Every column is asked for as text, so no driver setting can move a date or round an amount. */
type Query = (
  text: string,
  values: unknown[],
) => Promise<{ readonly rows: readonly { readonly day: string; readonly figure: string }[] }>;

/** Both days included. */
interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Figures by day (`2026-03-01`), oldest first. */
type ByDay = ReadonlyMap<string, string>;

/** What the table says: euros per day, all currencies together. */
export function revenueByDay(query: Query, range: DayRange): Promise<ByDay> {
  return figuresByDay(
    query,
    range,
    `select to_char(day, 'YYYY-MM-DD') as day, sum(revenue)::text as figure
     from mart.daily_revenue
     where day between $1::date and $2::date
     group by mart.daily_revenue.day
     order by mart.daily_revenue.day`,
  );
}

/**
 * What the table should say, straight from the orders. Written apart from the build on purpose, so that they do not share
 * a mistake: the day comes from each order's own instant, and each rate holds from its day until the next one's.
 */
export function expectedRevenueByDay(query: Query, range: DayRange): Promise<ByDay> {
  return figuresByDay(
    query,
    range,
    `with rates as (
       select currency, units_per_euro, day as valid_from,
              lead(day, 1, 'infinity') over (partition by currency order by day) as valid_until
       from raw.ecb_rates
     ), sold as (
       select (ordered_at at time zone 'UTC')::date as day, currency, sum(amount) as amount
       from raw.orders
       group by 1, 2
     ), euros as (
       select sold.day, round(sold.amount / rates.units_per_euro, 2) as revenue
       from sold
       join rates on rates.currency = sold.currency and sold.day >= valid_from and sold.day < valid_until
       where sold.day between $1::date and $2::date
     )
     select to_char(day, 'YYYY-MM-DD') as day, sum(revenue)::text as figure
     from euros
     group by euros.day
     order by euros.day`,
  );
}

/**
 * A fingerprint of each day outside the range. It takes in `xmin`, the transaction that wrote the row, so it changes even
 * when a row is written again with the same values.
 */
export function fingerprintsOutside(query: Query, range: DayRange): Promise<ByDay> {
  return figuresByDay(
    query,
    range,
    `select to_char(day, 'YYYY-MM-DD') as day,
            md5(string_agg(concat_ws(':', currency, orders, revenue, xmin), ',' order by currency)) as figure
     from mart.daily_revenue
     where day not between $1::date and $2::date
     group by mart.daily_revenue.day
     order by mart.daily_revenue.day`,
  );
}

async function figuresByDay(query: Query, { from, to }: DayRange, text: string): Promise<ByDay> {
  const { rows } = await query(text, [from, to]);
  return new Map(rows.map(({ day, figure }) => [day, figure]));
}
