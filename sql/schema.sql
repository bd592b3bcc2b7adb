-- Schema backfill after all migrations, as the catalog shows it. Written by a test, which compares it; refresh it with
-- BACKFILL_UPDATE_SCHEMA=1 npx vitest run test/integration/schema.test.ts

create schema backfill;
comment on schema backfill is 'The ledger of temporal-backfill. Migrated by "backfill migrate".';
create sequence backfill.migration_id_seq as integer;

create table backfill.failure (
  failure_id bigint not null generated always as identity,
  plan_id uuid not null,
  key text not null,
  attempt integer not null,
  type text not null,
  message text not null,
  info jsonb not null,
  failed_at timestamp with time zone not null default clock_timestamp()
);
alter table backfill.failure add constraint failure_pkey PRIMARY KEY (failure_id);
CREATE INDEX failure_plan ON backfill.failure USING btree (plan_id, key);

create table backfill.kept (
  plan_id uuid not null,
  relation text,
  columns text[] not null,
  partitioning jsonb not null,
  keep_for interval not null,
  made_at timestamp with time zone not null default clock_timestamp(),
  dropped_at timestamp with time zone
);
alter table backfill.kept add constraint kept_pkey PRIMARY KEY (plan_id);
CREATE INDEX kept_present ON backfill.kept USING btree (made_at) WHERE (dropped_at IS NULL);
comment on column backfill.kept.relation is 'The copy, in this schema; null where the run only creates partitions, which held nothing.';
comment on column backfill.kept.columns is 'Those of the table that the copy has: all that are stored.';
comment on column backfill.kept.partitioning is 'By which the keys of the run are to be read.';
comment on column backfill.kept.keep_for is 'From the last replacement of the run on.';

create table backfill.migration (
  id integer not null default nextval('backfill.migration_id_seq'::regclass),
  name character varying(255) not null,
  run_on timestamp without time zone not null
);
alter table backfill.migration add constraint migration_pkey PRIMARY KEY (id);

create table backfill.partition (
  table_name text not null,
  key text not null,
  generation bigint not null default 0,
  plan_id uuid,
  row_count bigint,
  build_digest text,
  provisional boolean not null default false,
  replaced_at timestamp with time zone,
  failed_plan_id uuid,
  failed_at timestamp with time zone,
  xid xid8,
  keeps_rows boolean not null default false
) with (fillfactor=70);
alter table backfill.partition add constraint partition_pkey PRIMARY KEY (table_name, key);
CREATE INDEX partition_failed ON backfill.partition USING btree (table_name) WHERE (failed_at IS NOT NULL);
CREATE INDEX partition_failed_plan ON backfill.partition USING btree (failed_plan_id, key) WHERE (failed_plan_id IS NOT NULL);
CREATE INDEX partition_plan ON backfill.partition USING btree (plan_id) WHERE (plan_id IS NOT NULL);
comment on column backfill.partition.generation is 'Raised by every replacement; 0 before the first.';
comment on column backfill.partition.provisional is 'Written before the partition had ended.';
comment on column backfill.partition.failed_at is 'Set by a failure, cleared by the next replacement.';
comment on column backfill.partition.xid is 'The transaction that wrote all of its rows; null where not all are its own.';
comment on column backfill.partition.keeps_rows is 'The last replacement left rows as they were: xid is the newest, not the only one.';

create table backfill.plan (
  plan_id uuid not null,
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
  replaces uuid,
  requested_by text,
  reason text,
  created_at timestamp with time zone not null default now(),
  undoes uuid
);
alter table backfill.plan add constraint plan_pkey PRIMARY KEY (plan_id);
CREATE INDEX plan_created_at ON backfill.plan USING btree (created_at);
CREATE INDEX plan_replaces ON backfill.plan USING btree (replaces) WHERE (replaces IS NOT NULL);
CREATE INDEX plan_undoes ON backfill.plan USING btree (undoes) WHERE (undoes IS NOT NULL);
comment on column backfill.plan.shape is 'The table''s columns and partitioning as text; compared before each replacement.';
comment on column backfill.plan.columns is 'The columns that the build gives, in its order.';
comment on column backfill.plan.facts is 'What was shown beside the partitions: the build''s SQL, checks, warnings.';

create table backfill.plan_partition (
  plan_id uuid not null,
  seq integer not null,
  key text not null,
  action text not null,
  why text,
  rows_about bigint,
  bytes bigint not null,
  generation bigint not null,
  leaf_oid bigint,
  leaf_filenode bigint,
  provisional boolean not null
);
alter table backfill.plan_partition add constraint plan_partition_pkey PRIMARY KEY (plan_id, seq);
alter table backfill.plan_partition add constraint plan_partition_plan_id_key_key UNIQUE (plan_id, key);
alter table backfill.plan_partition add constraint plan_partition_action_check CHECK ((action = ANY (ARRAY['create'::text, 'replace'::text, 'leave'::text])));
alter table backfill.plan_partition add constraint plan_partition_check CHECK (((action = 'leave'::text) = (why IS NOT NULL)));

create table backfill.replacement (
  table_name text not null,
  key text not null,
  generation bigint not null,
  plan_id uuid not null,
  action text not null,
  rows_before bigint not null,
  rows_after bigint not null,
  build_digest text,
  attempt integer not null,
  started_at timestamp with time zone not null,
  committed_at timestamp with time zone not null default clock_timestamp(),
  strategy text not null default 'delete-insert'::text,
  rows_added bigint,
  rows_removed bigint,
  rows_changed bigint,
  kept text,
  build_digest_before text,
  provisional_before boolean not null default false
);
alter table backfill.replacement add constraint replacement_pkey PRIMARY KEY (table_name, key, generation);
alter table backfill.replacement add constraint replacement_plan_id_key_key UNIQUE (plan_id, key);
alter table backfill.replacement add constraint replacement_action_check CHECK ((action = ANY (ARRAY['create'::text, 'replace'::text])));
alter table backfill.replacement add constraint replacement_check CHECK ((((rows_added IS NULL) = (rows_removed IS NULL)) AND ((rows_added IS NULL) = (rows_changed IS NULL))));
alter table backfill.replacement add constraint replacement_kept_check CHECK ((kept = ANY (ARRAY['rows'::text, 'differences'::text])));
alter table backfill.replacement add constraint replacement_strategy_check CHECK ((strategy = ANY (ARRAY['delete-insert'::text, 'diff'::text])));
CREATE INDEX replacement_history ON backfill.replacement USING btree (table_name, committed_at, key, generation);
comment on column backfill.replacement.rows_added is 'Null where old and new rows were not compared.';
comment on column backfill.replacement.kept is 'All rows that it deleted are in the copy of its run, or those in which it differs; null where they are not kept.';

create table backfill.run (
  plan_id uuid not null,
  table_name text not null,
  workflow_id text not null,
  execution_id text not null,
  state text not null,
  requested_by text,
  reason text,
  opened_at timestamp with time zone not null default now(),
  closed_at timestamp with time zone,
  span tstzrange,
  namespace text,
  namespace_id text
);
alter table backfill.run add constraint run_pkey PRIMARY KEY (plan_id);
alter table backfill.run add constraint run_check CHECK (((state = 'open'::text) = (closed_at IS NULL)));
alter table backfill.run add constraint run_state_check CHECK ((state = ANY (ARRAY['open'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'abandoned'::text])));
alter table backfill.run add constraint run_claim EXCLUDE USING gist (int8range(hashtextextended(table_name, (0)::bigint), hashtextextended(table_name, (0)::bigint), '[]'::text) WITH &&, span WITH &&) WHERE ((state = 'open'::text));
CREATE INDEX run_table ON backfill.run USING btree (table_name, opened_at);
comment on column backfill.run.state is 'abandoned: its execution was gone, as Temporal said when another run wanted the range.';
comment on column backfill.run.span is 'The range as instants, half-open.';
comment on column backfill.run.namespace is 'The Temporal namespace of its execution. Only a worker there can tell whether it is gone.';
comment on column backfill.run.namespace_id is 'Drawn by Temporal when the namespace was made; null for a run of before that was recorded.';

alter sequence backfill.migration_id_seq owned by backfill.migration.id;
alter table backfill.failure add constraint failure_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES backfill.plan(plan_id);
alter table backfill.kept add constraint kept_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES backfill.plan(plan_id);
alter table backfill.partition add constraint partition_failed_plan_id_fkey FOREIGN KEY (failed_plan_id) REFERENCES backfill.plan(plan_id);
alter table backfill.partition add constraint partition_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES backfill.plan(plan_id);
alter table backfill.plan add constraint plan_replaces_fkey FOREIGN KEY (replaces) REFERENCES backfill.plan(plan_id);
alter table backfill.plan add constraint plan_undoes_fkey FOREIGN KEY (undoes) REFERENCES backfill.plan(plan_id);
alter table backfill.plan_partition add constraint plan_partition_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES backfill.plan(plan_id) ON DELETE CASCADE;
alter table backfill.replacement add constraint replacement_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES backfill.plan(plan_id);
alter table backfill.run add constraint run_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES backfill.plan(plan_id);

CREATE OR REPLACE FUNCTION backfill.reject_stray_row(value text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  raise exception using
    errcode = 'BF001',
    message = pg_catalog.format('the build yields a row outside its partition: %s', coalesce(value, 'null'));
end
$function$
;
comment on function backfill.reject_stray_row(text) is 'Raises SQLSTATE BF001.';
