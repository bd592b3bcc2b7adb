import type { Check } from '../domain/check.js';
import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType } from '../domain/failure.js';
import { NEW_ROWS, type SqlText } from '../domain/sql-template.js';
import type { Tx } from './database.js';
import { offendingQuery, offendingRows } from './offending-rows.js';
import { type Target, withinBounds } from './target.js';

/**
 * Counts the new rows, those that another transaction wrote, and what each check finds wrong with them, in one statement.
 * @param relation quoted name of the table that holds them
 */
export function checksStatement(target: Target, checks: readonly Check[], relation: string): SqlText {
  const within = withinBounds(target, 1);
  const values = [...within.values];
  const counts = checks.map((check, i) => {
    const count = countViolations(target, check, values.length + 1);
    values.push(...count.values);
    return `(${count.text}) as c${i}`;
  });
  const totals = `select pg_catalog.count(*) as total,
      pg_catalog.count(*) filter (where t.xmin operator(pg_catalog.<>) pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.xid) as others
    from ${relation} as t where ${within.text}`;
  const columns = ['t.total', 't.others', ...counts];
  return {
    // Not materialized: the rows would be copied to a temporary file.
    text: `with ${NEW_ROWS} as not materialized (select * from ${relation} where ${within.text}) select ${columns.join(', ')} from (${totals}) t`,
    values,
  };
}

/**
 * @throws {BackfillError} CheckFailed, naming every check that does not hold, with keys of rows that the first of them found
 */
export async function runChecks(
  tx: Tx,
  target: Target,
  { checks, showValues }: Pick<Definition, 'checks' | 'showValues'>,
  relation: string,
): Promise<{ readonly total: number; readonly others: number }> {
  const { text, values } = checksStatement(target, checks, relation);
  const { rows } = await tx.query<Record<string, string>>(text, values);
  const counted = rows[0] ?? {};
  const total = Number(counted['total']);
  const broken = checks.flatMap((check, i) => describeViolation(check, Number(counted[`c${i}`]), total));
  const [first] = broken;
  if (first) {
    const message = `${target.partition.key}: ${broken.map(({ text: what }) => what).join('; ')}`;
    const sample = await offendingRows(tx, target, { check: first.check, relation, showValues });
    throw new BackfillError({ type: FailureType.CheckFailed, message, check: first.check.name, ...sample });
  }
  return { total, others: Number(counted['others']) };
}

function countViolations(target: Target, check: Check, startAt: number): SqlText {
  const offending = offendingQuery(target, check, startAt);
  if (!offending) return { text: 'select 0', values: [] };
  return { text: `select pg_catalog.count(*) from (${offending.text}\n) q`, values: offending.values };
}

function describeViolation(check: Check, violations: number, total: number): { check: Check; text: string }[] {
  if (check.kind === 'rowCount') {
    const holds = total >= check.min && (check.max === null || total <= check.max);
    return holds ? [] : [{ check, text: `check "${check.name}" found ${total} ${total === 1 ? 'row' : 'rows'}` }];
  }
  const isOne = violations === 1;
  const what = {
    notNull: isOne ? 'row' : 'rows',
    unique: isOne ? 'group of rows that agree' : 'groups of rows that agree',
    everyRow: isOne ? 'row that does not meet it' : 'rows that do not meet it',
    noRows: isOne ? 'row' : 'rows',
  }[check.kind];
  return violations === 0 ? [] : [{ check, text: `check "${check.name}" found ${violations} ${what}` }];
}
