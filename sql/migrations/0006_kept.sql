-- What a run replaced is kept for a while, so that it can be put back: one table of rows a run, kept_<plan id>, and the
-- record of it here. A table that no row here names is nobody's of ours.
create table kept (
  plan_id uuid primary key references plan,
  relation text,
  columns text[] not null,
  partitioning jsonb not null,
  keep_for interval not null,
  made_at timestamptz not null default pg_catalog.clock_timestamp(),
  dropped_at timestamptz
);
comment on column kept.relation is 'The copy, in this schema; null where the run only creates partitions, which held nothing.';
comment on column kept.columns is 'Those of the table that the copy has: all that are stored.';
comment on column kept.partitioning is 'By which the keys of the run are to be read.';
comment on column kept.keep_for is 'From the last replacement of the run on.';
create index kept_present on kept (made_at) where dropped_at is null;

-- A plan that puts back what the run of another one replaced.
alter table plan add column undoes uuid references plan;
create index plan_undoes on plan (undoes) where undoes is not null;

-- What an undo puts back, beside the rows. What was there before this software wrote it was built by no known build.
alter table replacement
  alter column build_digest drop not null,
  add column kept text check (kept in ('rows', 'differences')),
  add column build_digest_before text,
  add column provisional_before boolean not null default false;
comment on column replacement.kept is 'All rows that it deleted are in the copy of its run, or those in which it differs; null where they are not kept.';
