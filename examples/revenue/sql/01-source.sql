-- What the reports are made from: the rates of the European Central Bank, which the caller loads from the CSV file
-- after this script, and half a year of orders.

drop schema if exists raw cascade;
create schema raw;
comment on schema raw is 'What other systems deliver; the example only reads it';

create table raw.ecb_rates (
  day date not null,
  currency text not null,
  units_per_euro numeric not null check (units_per_euro > 0),
  -- Currency first, so that "its last rate on or before a day" is one step in the index.
  primary key (currency, day)
);
comment on table raw.ecb_rates is 'Euro reference rates, working days only; source: European Central Bank';
comment on column raw.ecb_rates.units_per_euro is 'How much of the currency one euro buys: divide by it to get euros';

create table raw.orders (
  order_id bigint not null,
  ordered_at timestamptz not null,
  currency text not null,
  amount numeric(12, 2) not null check (amount > 0)
);
comment on table raw.orders is 'Invented orders, 2026-01-01 to 2026-06-30 UTC';
comment on column raw.orders.amount is 'In the currency of the order, not in euros';

-- Dice that fall the same way everywhere. random() differs from run to run and the hash functions are not promised to
-- agree between versions; md5 is. One md5 holds four dice of 28 bits, numbered 0 to 3.
create function raw.roll(dice text, number int, sides int) returns int language sql immutable
  return ('x' || substr(dice, 1 + 7 * number, 7))::bit(28)::int % sides;

insert into raw.orders (order_id, ordered_at, currency, amount)
with days as (
  -- to_char, as day::text would follow the session's DateStyle and so change the dice.
  select day, to_char(day, 'YYYYMMDD') as name
  from (select date '2026-01-01' + i as day from generate_series(0, 180) i) d
),
-- Materialized, here and below, as PostgreSQL would otherwise work out names and dice again for every use of them.
volumes as materialized (
  -- Busiest on Fridays, quiet on Sundays, never under 2,000.
  select
    day,
    name,
    2000 + (array[300, 350, 400, 500, 700, 250, 100])[extract(isodow from day)::int]
      + raw.roll(md5(name), 0, 150) as orders
  from days
),
thrown as materialized (
  select day, name, n, n = orders as is_last, md5(name || n) as dice
  from volumes cross join lateral generate_series(1, orders) n
),
drawn as (
  select
    name::bigint * 10000 + n as order_id,
    -- Most of the day's trade is around noon UTC. The first and the last order sit in the first and the last instant
    -- of their day, where a bound that is off by anything at all loses or doubles them.
    day::timestamp at time zone 'UTC' + case
      when n = 1 then interval '0'
      when is_last then interval '23:59:59.999999'
      else interval '1 second' * (raw.roll(dice, 0, 43200) + raw.roll(dice, 1, 43200))
    end as ordered_at,
    (array['USD', 'USD', 'USD', 'USD', 'USD', 'USD', 'GBP', 'GBP', 'GBP', 'GBP',
           'SEK', 'SEK', 'SEK', 'PLN', 'PLN', 'PLN', 'CHF', 'CHF', 'CZK', 'JPY'])[1 + raw.roll(dice, 2, 20)] as currency,
    raw.roll(dice, 3, 10000) as price
  from thrown
)
select
  order_id,
  ordered_at,
  currency,
  -- Squared, so that small baskets are common and large ones rare: 5 to 255 euros' worth.
  round((500 + price * price / 4000) * price_level / 100, decimals)
from drawn
-- Price lists are set once and do not follow the daily rate.
join (
  values ('CHF', 0.95, 2), ('CZK', 24.5, 2), ('GBP', 0.86, 2), ('JPY', 180, 0), ('PLN', 4.3, 2), ('SEK', 11, 2), ('USD', 1.2, 2)
) as price_lists (currency, price_level, decimals) using (currency);

drop function raw.roll;

-- After the rows: an index is cheaper to build at once than to grow row by row.
alter table raw.orders add primary key (order_id);
create index orders_ordered_at on raw.orders (ordered_at);
analyze raw.orders;
