-- What the airlines report: a row for each departure. The caller loads the rows after this script.

drop schema if exists raw cascade;
create schema raw;
comment on schema raw is 'What other systems deliver; the example only reads it';

create table raw.flights (
  time_hour timestamptz not null,
  carrier text not null,
  origin text not null,
  dest text not null,
  dep_delay int,
  arr_delay int,
  distance int not null
);
comment on table raw.flights is 'Departures of 2013 from Newark, Kennedy and LaGuardia; source: US Bureau of Transportation Statistics';
comment on column raw.flights.time_hour is 'The hour of the scheduled departure';
comment on column raw.flights.dep_delay is 'Minutes, below zero when early; null when the flight was cancelled';
comment on column raw.flights.arr_delay is 'Minutes; null when the flight was cancelled or landed elsewhere';
