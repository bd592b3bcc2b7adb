-- What people read: flights by day and airport, once by the days of New York and once by those of UTC. Neither table has
-- partitions yet: the backfill makes them.

drop schema if exists mart cascade;
create schema mart;
comment on schema mart is 'What people read; the example fills it';

create table mart.daily_flights (
  day date not null,
  origin text not null,
  flights int not null,
  cancelled int not null,
  mean_departure_delay numeric(6, 1),
  mean_arrival_delay numeric(6, 1),
  primary key (day, origin)
) partition by range (day);
comment on table mart.daily_flights is 'Flights per day and airport; days of New York, where the airports are';
comment on column mart.daily_flights.flights is 'Scheduled departures, those that were cancelled included';
comment on column mart.daily_flights.mean_departure_delay is 'Minutes, of the flights that took off';
comment on column mart.daily_flights.mean_arrival_delay is 'Minutes, of the flights that landed where they should';

create table mart.daily_flights_utc (like mart.daily_flights including all) partition by range (day);
comment on table mart.daily_flights_utc is 'The same per day of UTC, which begins at 7 or 8 in the evening in New York';
