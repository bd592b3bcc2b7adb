-- After the rows: an index is cheaper to build at once than to grow row by row.
create index flights_time_hour on raw.flights (time_hour);
analyze raw.flights;
