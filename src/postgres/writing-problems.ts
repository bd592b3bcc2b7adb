import type { Definition } from '../domain/definition.js';
import type { Tx } from './database.js';

/** The table and everything below it. */
export const TREE = 'select relid from pg_partition_tree($1::oid)';

/** Reasons for which deleting and inserting rows of the table would do something else, in sentences. */
export async function writingProblems(tx: Tx, definition: Definition, oid: number): Promise<string[]> {
  return [...(await ruleProblems(tx, definition, oid)), ...(await foreignProblems(tx, definition, oid))];
}

/** A rule turns the statement into another one, which says nothing of it. */
async function ruleProblems(tx: Tx, { name }: Definition, oid: number): Promise<string[]> {
  const { rows } = await tx.query<{ rule: string; on: string }>(
    `select rulename as rule, ev_class::regclass::text as on from pg_rewrite
      where ev_class in (select $1::oid union all ${TREE}) and ev_type in ('2', '3', '4') and ev_enabled <> 'D' order by 2, 1`,
    [oid],
  );
  return rows.map(
    (one) =>
      `Rule ${one.rule} of ${one.on} rewrites what is written to ${name}; drop it, or disable it ("alter table ${one.on} disable rule ${one.rule}")`,
  );
}

/** Rows elsewhere are not part of the transaction that records them. */
async function foreignProblems(tx: Tx, { name }: Definition, oid: number): Promise<string[]> {
  const { rows } = await tx.query<{ leaf: string }>(
    `select oid::regclass::text as leaf from pg_class where relkind = 'f' and oid in (${TREE}) order by 1`,
    [oid],
  );
  return rows.map(
    ({ leaf }) =>
      `${leaf}, a partition of ${name}, is a foreign table; its rows are not replaced in one transaction with their record`,
  );
}

/** Triggers that fire for each row. Those of foreign keys are the system's own. */
export async function readRowTriggers(tx: Tx, oid: number): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select distinct tgname as name from pg_trigger
      where tgrelid in (select $1::oid union all ${TREE}) and not tgisinternal and tgparentid = 0
        and tgtype & 1 = 1 and tgtype & (4 | 8) <> 0 and tgenabled <> 'D' order by 1`,
    [oid],
  );
  return rows.map(({ name }) => name);
}
