-- The table on the day the bug was found: from 1 to 14 March a release multiplied by the rate where it has to divide.

insert into mart.daily_revenue (day, currency, orders, revenue)
with sold as (
  select (ordered_at at time zone 'UTC')::date as day, currency, count(*) as orders, sum(amount) as amount
  from raw.orders
  group by 1, 2
)
select
  sold.day,
  sold.currency,
  sold.orders,
  round(
    case
      when sold.day between '2026-03-01' and '2026-03-14' then sold.amount * rate.units_per_euro
      else sold.amount / rate.units_per_euro
    end,
    2
  )
from sold
cross join lateral (
  select units_per_euro
  from raw.ecb_rates
  where currency = sold.currency and day <= sold.day
  order by day desc
  limit 1
) rate;

refresh materialized view mart.revenue_by_currency;

analyze raw.ecb_rates;
analyze mart.daily_revenue;
