-- What finance reads: a table with a partition a day, and two reports on it.

drop schema if exists mart cascade;
create schema mart;
comment on schema mart is 'What people read; the example repairs it';

create table mart.daily_revenue (
  day date not null,
  currency text not null,
  orders bigint not null,
  revenue numeric(14, 2) not null,
  primary key (day, currency)
) partition by range (day);
comment on table mart.daily_revenue is 'Orders and revenue per UTC day and currency of the order';
comment on column mart.daily_revenue.currency is 'The currency the customers paid in';
comment on column mart.daily_revenue.revenue is 'In euros, at the last ECB rate on or before the day';

do $$
declare
  first_day constant date := '2026-01-01';
  -- Counted in whole days: a series of timestamps would depend on the time zone of the session.
  last_day constant date := '2026-06-30';
  day date;
begin
  for i in 0 .. last_day - first_day loop
    day := first_day + i;
    execute format(
      'create table mart.%I partition of mart.daily_revenue for values from (%L) to (%L)',
      'daily_revenue_' || to_char(day, 'YYYYMMDD'), day, day + 1
    );
  end loop;
end
$$;

create view mart.monthly_revenue as
  -- day::timestamp, as date_trunc on a date would go through the session's time zone.
  select date_trunc('month', day::timestamp)::date as month, sum(orders) as orders, sum(revenue) as revenue
  from mart.daily_revenue
  group by 1;
comment on view mart.monthly_revenue is 'Revenue in euros per month, all currencies together';

create materialized view mart.revenue_by_currency as
  select currency, sum(orders) as orders, sum(revenue) as revenue
  from mart.daily_revenue
  group by currency
with no data;
comment on materialized view mart.revenue_by_currency is 'Revenue in euros of the half-year; as of its last refresh';
