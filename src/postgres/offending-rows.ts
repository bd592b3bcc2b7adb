import type { Check } from '../domain/check.js';
import type { FailureInfo } from '../domain/failure.js';
import { NEW_ROWS, type SqlText } from '../domain/sql-template.js';
import { quoteIdentifier } from '../domain/table-name.js';
import type { Tx } from './database.js';
import { type Target, quoteTarget, renderFor, quoteColumns, withinBounds } from './target.js';

const MOST_SHOWN = 10;

export interface Violation {
  readonly check: Check;
  /** Quoted name of the table that holds the new rows. */
  readonly relation: string;
  readonly showValues: boolean;
}

/**
 * Keys of rows that a check found: `day=2026-03-01, currency=EUR`. Of a unique check its own columns, of others those
 * of the primary key; whole rows where the definition allows it. Never a reason to fail in another way.
 */
export async function offendingRows(
  tx: Tx,
  target: Target,
  violation: Violation,
): Promise<Pick<FailureInfo, 'sample'>> {
  try {
    const shown = await shownColumns(tx, target, violation);
    const query = shown && queryOf(target, violation, shown);
    if (!query) return {};
    const { rows } = await tx.query<{ row: string }>(query.text, query.values);
    return { sample: rows.map(({ row }) => row) };
  } catch {
    // The transaction is going to be rolled back in any case.
    return {};
  }
}

/** An SQL expression over one offending row; undefined where nothing of it may be shown. */
async function shownColumns(tx: Tx, target: Target, { check, showValues }: Violation): Promise<string | undefined> {
  if (check.kind === 'unique') return printed(check.columns);
  if (showValues) return 'pg_catalog.to_jsonb(q)::pg_catalog.text';
  const key = check.kind === 'noRows' ? [] : await primaryKey(tx, target);
  return key.length === 0 ? undefined : printed(key);
}

function printed(columns: readonly string[]): string {
  const parts = columns.map((column) => {
    const name = `'${column.replaceAll("'", "''")}='`;
    return `${name}, coalesce(q.${quoteIdentifier(column)}::pg_catalog.text, 'null')`;
  });
  return `pg_catalog.concat(${parts.join(`, ', ', `)})`;
}

async function primaryKey(tx: Tx, target: Target): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select a.attname as name
       from pg_catalog.pg_index i
      cross join lateral pg_catalog.unnest(i.indkey::pg_catalog.int2[]) with ordinality as k (number, place)
       join pg_catalog.pg_attribute a on a.attrelid operator(pg_catalog.=) i.indrelid and a.attnum operator(pg_catalog.=) k.number
      where i.indisprimary and i.indrelid operator(pg_catalog.=) pg_catalog.to_regclass($1) order by k.place`,
    [quoteTarget(target)],
  );
  return rows.map(({ name }) => name);
}

function queryOf(target: Target, { check, relation }: Violation, shown: string) {
  const offending = offendingQuery(target, check);
  if (!offending) return undefined;
  const within = withinBounds(target, offending.values.length + 1);
  return {
    text: `with ${NEW_ROWS} as not materialized (select * from ${relation} where ${within.text})
           select ${shown} as row from (${offending.text}\n) q order by 1 limit ${MOST_SHOWN}`,
    values: [...offending.values, ...within.values],
  };
}

/**
 * What a check finds wrong: rows, or groups of them by the columns that tell them apart. Undefined for a check of all
 * rows together.
 * @param startAt number of the first parameter
 */
export function offendingQuery(target: Target, check: Check, startAt = 1): SqlText | undefined {
  const rowsWhere = (condition: string) => ({ text: `select * from ${NEW_ROWS} where ${condition}`, values: [] });
  switch (check.kind) {
    case 'unique': {
      const columns = quoteColumns(check.columns);
      const text = `select ${columns} from ${NEW_ROWS} group by ${columns} having pg_catalog.count(*) operator(pg_catalog.>) 1`;
      return { text, values: [] };
    }
    case 'notNull':
      return rowsWhere(`pg_catalog.num_nulls(${quoteColumns(check.columns)}) operator(pg_catalog.>) 0`);
    case 'everyRow':
      return rowsWhere(`(${check.condition}\n) is not true`);
    case 'noRows':
      return renderFor(target, check.query, startAt);
    case 'rowCount':
      return undefined;
    default:
      return check satisfies never;
  }
}
