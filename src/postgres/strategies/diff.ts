import type { Changes } from '../../domain/changes.js';
import { quoteIdentifier } from '../../domain/table-name.js';
import type { Tx } from '../database.js';
import { type Keeping, keepText, keeping } from '../kept/copy.js';
import { STAGED } from '../staged.js';
import { type Target, insertInto, quoteColumns, quoteTarget, withinLiterals } from '../target.js';
import { type UniqueKey, sameKey } from '../unique-key.js';

/*
 * Compares the partition's rows with the staged ones by a unique key of the table, and writes only what differs: rows
 * that others refer to stay the same rows, and so does each that the build gives as it is. As dear as delete-insert where
 * every row changes, four times cheaper where one in a hundred does.
 *
 * Three statements instead of a MERGE, which deletes what the source lacks from PostgreSQL 17 on only, and then joins
 * every partition of the table.
 */

/** Rows of the partition whose key the build gives. */
export function isBuilt(key: UniqueKey): string {
  return `exists (select from ${STAGED} as s where ${sameKey(key, 's', 't')})`;
}

/** Rows of the partition that the build does not give as they are. */
export function notAsBuilt(target: Target, key: UniqueKey): string {
  return `not exists (select from ${STAGED} as s where ${sameKey(key, 's', 't')} and not (${differs(target)}))`;
}

export interface WrittenDifferences extends Pick<Changes, 'added' | 'removed' | 'changed'> {
  /** The old form of every row that was changed is kept, where it is to be. */
  readonly isKept: boolean;
}

/**
 * @param keep where to put the rows that go, the old form of those that change, and, to be known again, what comes
 * @returns what was written, with triggers of the table fired
 */
export async function writeDifferences(
  tx: Tx,
  target: Target,
  { key, keep }: { readonly key: UniqueKey; readonly keep: Keeping | null },
): Promise<WrittenDifferences> {
  const [remove, change] = correctRows(target, key);
  const counts = await tx.goOnAsUser(
    keeping(remove, keep, { as: 't.' }),
    ...keepChanging(target, key, keep),
    // A row that changes keeps its key, by which it is known, unless a trigger gives it another one.
    keeping(change, key.hasTriggers ? keep : null, { as: 't.', isNew: true }),
    keeping(insertMissing(target, key), keep, { isNew: true }),
  );
  const [removed = 0, changed = 0, added = 0] = [counts[0], ...counts.slice(-2)];
  return { removed, changed, added, isKept: !keep?.copy || (counts[1] ?? 0) >= changed };
}

/** Statements after which no row is left that is not as built: the first deletes, the second updates. */
export function correctRows(target: Target, key: UniqueKey): readonly [string, string] {
  const table = quoteTarget(target);
  const values = writable(target).map((column) => `${quoteIdentifier(column)} = s.${quoteIdentifier(column)}`);
  return [
    `delete from ${table} as t where ${within(target)} and not ${isBuilt(key)}`,
    `update ${table} as t set ${values.join(', ')} from ${changing(target, key)}`,
  ];
}

/** Locked, so that no other session changes them before this one does; those that it changed before are seen. */
function keepChanging(target: Target, key: UniqueKey, keep: Keeping | null): string[] {
  if (!keep?.copy) return [];
  const old = `select ${quoteColumns(keep.columns, 't.')} from ${quoteTarget(target)} as t, ${changing(target, key)} for update of t`;
  return [keepText(old, { ...keep, copy: keep.copy }, false)];
}

function changing(target: Target, key: UniqueKey): string {
  return `${STAGED} as s where ${within(target)} and ${sameKey(key, 's', 't')} and ${differs(target)}`;
}

function insertMissing(target: Target, key: UniqueKey): string {
  const table = quoteTarget(target);
  return `${insertInto(target, table)} select ${quoteColumns(target.columns, 's.')} from ${STAGED} as s
      where not exists (select from ${table} as t where ${within(target)} and ${sameKey(key, 's', 't')})`;
}

function within(target: Target): string {
  return withinLiterals(target, `t.${quoteIdentifier(target.column)}`);
}

/** Bits are compared, not values: 1.0 and 1.00 are equal numbers, and not the same row. It also knows json. */
function differs(target: Target): string {
  const columns = writable(target);
  return `row(${quoteColumns(columns, 't.')})::pg_catalog.record
            operator(pg_catalog.*<>) row(${quoteColumns(columns, 's.')})::pg_catalog.record`;
}

/** An update cannot set what the table numbers itself; a row that is put back has the number it had. */
function writable({ columns, restores }: Target): readonly string[] {
  return restores ? columns.filter((column) => !restores.includes(column)) : columns;
}
