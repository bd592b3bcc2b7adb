-- The ledger: what was replaced, by which run, when, from which code. It lives in the target's own database, because the
-- record of a replacement is written in the transaction of the replacement itself.

-- No statement names the schema: whoever runs them has made it, and set the search path to it.

do $$ begin
  execute pg_catalog.format('comment on schema %I is %L', current_schema(),
    'The ledger of temporal-backfill. Migrated by "backfill migrate".');
end $$;

-- A frozen list of partitions to replace, with what it was computed from.
create table plan (
  plan_id uuid primary key,
  table_name text not null,
  range_from text not null,
  range_to text not null,
  options jsonb not null,
  digest text not null,
  definition_digest text not null,
  build_digest text not null,
  shape text not null,
  column_type text not null,
  columns text[] not null,
  facts jsonb not null,
  refusals jsonb not null,
  replaces uuid references plan,
  requested_by text,
  reason text,
  created_at timestamptz not null default pg_catalog.now()
);
create index plan_created_at on plan (created_at);
comment on column plan.facts is 'What was shown beside the partitions: the build''s SQL, checks, warnings.';
comment on column plan.columns is 'The columns that the build gives, in its order.';
comment on column plan.shape is 'The table''s columns and partitioning as text; compared before each replacement.';

create table plan_partition (
  plan_id uuid not null references plan on delete cascade,
  seq integer not null,
  key text not null,
  action text not null check (action in ('create', 'replace', 'leave')),
  why text check ((action = 'leave') = (why is not null)),
  rows_about bigint,
  bytes bigint not null,
  generation bigint not null,
  leaf_oid bigint,
  leaf_filenode bigint,
  provisional boolean not null,
  primary key (plan_id, seq),
  unique (plan_id, key)
);

-- One execution of a plan, through continue-as-new and retry. A replacement takes the row "for share" and demands that it
-- is open and still belongs to its own Temporal execution: closing it, or taking it over, fences every late attempt.
create table run (
  plan_id uuid primary key references plan,
  table_name text not null,
  workflow_id text not null,
  execution_id text not null,
  state text not null check (state in ('open', 'completed', 'failed', 'cancelled')),
  requested_by text,
  reason text,
  opened_at timestamptz not null default pg_catalog.now(),
  closed_at timestamptz,
  check ((state = 'open') = (closed_at is null))
);
create index run_table on run (table_name, opened_at);

-- What is true of a partition now. Its row is the lock that every writer of this software takes.
create table partition (
  table_name text not null,
  key text not null,
  generation bigint not null default 0,
  plan_id uuid references plan,
  row_count bigint,
  build_digest text,
  provisional boolean not null default false,
  replaced_at timestamptz,
  failed_plan_id uuid references plan,
  failed_at timestamptz,
  primary key (table_name, key)
) with (fillfactor = 70);
comment on column partition.generation is 'Raised by every replacement; 0 before the first.';
comment on column partition.provisional is 'Written before the partition had ended.';
comment on column partition.failed_at is 'Set by a failure, cleared by the next replacement.';
create index partition_failed on partition (table_name) where failed_at is not null;

-- Every replacement, one row for each generation. (plan_id, key) makes a repeated attempt find the first one's answer.
create table replacement (
  table_name text not null,
  key text not null,
  generation bigint not null,
  plan_id uuid not null references plan,
  action text not null check (action in ('create', 'replace')),
  rows_before bigint not null,
  rows_after bigint not null,
  build_digest text not null,
  attempt integer not null,
  started_at timestamptz not null,
  committed_at timestamptz not null default pg_catalog.clock_timestamp(),
  primary key (table_name, key, generation),
  unique (plan_id, key)
);

create table failure (
  failure_id bigint generated always as identity primary key,
  plan_id uuid not null references plan,
  key text not null,
  attempt integer not null,
  type text not null,
  message text not null,
  info jsonb not null,
  failed_at timestamptz not null default pg_catalog.clock_timestamp()
);
create index failure_plan on failure (plan_id, key);

-- A row of a build that lies outside its partition ends the statement. A function, because SQL has no other way to raise
-- an error from within an expression; PostgreSQL inlines nothing here, so that it runs for offending rows only.
create function reject_stray_row(value text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'BF001',
    message = pg_catalog.format('the build yields a row outside its partition: %s', coalesce(value, 'null'));
end
$$;
comment on function reject_stray_row is 'Raises SQLSTATE BF001.';
