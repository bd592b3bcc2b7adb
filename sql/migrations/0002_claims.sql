-- An open run has the sole right to its range of its table: two open runs never overlap. The constraint is the claim;
-- closing the run gives it up. Tables are told apart by a 64-bit hash, because an exclusion constraint on text needs the
-- extension btree_gist, which the owner of a database may not be allowed to create.

alter table run
  add column span tstzrange,
  add column namespace text,
  drop constraint run_state_check,
  add constraint run_state_check check (state in ('open', 'completed', 'failed', 'cancelled', 'abandoned')),
  add constraint run_claim exclude using gist (
    int8range(pg_catalog.hashtextextended(table_name, 0), pg_catalog.hashtextextended(table_name, 0), '[]') with &&,
    span with &&
  ) where (state = 'open');
comment on column run.span is 'The range as instants, half-open.';
comment on column run.namespace is 'The Temporal namespace of its execution. Only a worker there can tell whether it is gone.';
comment on column run.state is 'abandoned: its execution was gone, as Temporal said when another run wanted the range.';

-- The transaction that wrote the rows of a partition: every row of it carries that number as its xmin, until somebody
-- else writes. The last read of a run compares them.
alter table partition add column xid xid8;
comment on column partition.xid is 'The transaction that wrote all of its rows; null where not all are its own.';
