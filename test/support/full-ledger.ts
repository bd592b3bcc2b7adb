/**
 * A ledger of some years: 20,000 plans of two partitions each, all of 2020. Every tenth of them wrote `public.fact`, again
 * and again the same hundred keys; the others wrote 162 other tables.
 */
export const FULL_LEDGER = `
create temporary table made as
  select i, md5(i::text)::uuid as plan_id,
         case when i % 10 = 0 then 'public.fact' else 'public.t' || i % 180 end as table_name,
         (date '2010-01-01' + case when i % 10 = 0 then i / 10 % 100 else i / 180 % 100 end)::text as key,
         case when i % 10 = 0 then (i / 10 - 1) / 100 + 1 else 1 end as generation,
         timestamptz '2020-01-01Z' + i * interval '10 min' as at
    from generate_series(1, 20000) i;
insert into backfill.plan (plan_id, table_name, range_from, range_to, options, digest, definition_digest, build_digest, shape,
                           column_type, columns, facts, refusals, created_at)
  select plan_id, table_name, key, key, '{}', 'd', 'd', 'b', 's', 'date', '{}', '{"counts": {"replace": 2}}', '[]', at from made;
insert into backfill.plan_partition (plan_id, seq, key, action, bytes, generation, provisional)
  select plan_id, seq, case seq when 1 then key else key || '+' end, 'replace', 0, generation - 1, false
    from made, generate_series(1, 2) seq;
insert into backfill.run (plan_id, table_name, workflow_id, execution_id, state, opened_at, closed_at, span, namespace)
  select plan_id, table_name, 'w' || i, 'e' || i, 'completed', at, at + interval '1 min', tstzrange(key::timestamptz, key::timestamptz + interval '1 day'), 'n'
    from made;
insert into backfill.replacement (table_name, key, generation, plan_id, action, rows_before, rows_after, build_digest, attempt, started_at, committed_at)
  select table_name, key, generation, plan_id, 'replace', 1, 1, 'b', 1, at, at from made on conflict do nothing;
insert into backfill.failure (plan_id, key, attempt, type, message, info, failed_at)
  select plan_id, key || '+', 1, 'SqlFailed', 'm', '{"type": "SqlFailed", "message": "m"}', at from made;
insert into backfill.partition (table_name, key, generation, plan_id, row_count, build_digest, replaced_at)
  select distinct on (table_name, key) table_name, key, generation, plan_id, 1, 'b', at
    from made order by table_name, key, generation desc;
insert into backfill.partition (table_name, key, failed_plan_id, failed_at)
  select distinct on (table_name, key) table_name, key || '+', plan_id, at from made order by table_name, key, generation desc;
analyze`;
