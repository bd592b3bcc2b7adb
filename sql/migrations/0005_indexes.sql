-- What grows with every run is found by an index, however large the ledger gets.

-- A page of a table's history, newest first, wherever the page begins.
create index replacement_history on replacement (table_name, committed_at, key, generation);

-- Deleting a plan looks for what refers to it: without these it reads the whole table for each plan.
create index partition_plan on partition (plan_id) where plan_id is not null;
create index partition_failed_plan on partition (failed_plan_id, key) where failed_plan_id is not null;
create index plan_replaces on plan (replaces) where replaces is not null;
