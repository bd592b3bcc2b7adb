-- Two Temporal servers may both have a namespace of one name, and a run of the other looks gone to each.

alter table run add column namespace_id text;
comment on column run.namespace_id is 'Drawn by Temporal when the namespace was made; null for a run of before that was recorded.';
