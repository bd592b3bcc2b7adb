-- What a replacement changed, where it was compared: rows that came, went, were altered. A partition without a past has
-- only rows that came. The next plan chooses its strategy by these figures.
alter table replacement
  add column strategy text not null default 'delete-insert' check (strategy in ('delete-insert', 'diff')),
  add column rows_added bigint,
  add column rows_removed bigint,
  add column rows_changed bigint,
  add check ((rows_added is null) = (rows_removed is null) and (rows_added is null) = (rows_changed is null));
comment on column replacement.rows_added is 'Null where old and new rows were not compared.';

-- Rows that a replacement found to be right already keep the number of the transaction that wrote them, before its own.
alter table partition add column keeps_rows boolean not null default false;
comment on column partition.keeps_rows is 'The last replacement left rows as they were: xid is the newest, not the only one.';
