import type { Partition } from '../domain/range.js';
import type { ColumnType } from '../domain/sql-template.js';
import type { Tx } from './database.js';

/** A direct partition of the table. Bounds are in canonical text, see {@link lowerAndUpper}. */
export interface Leaf {
  readonly oid: number;
  /** For messages; nothing is ever found by name. */
  readonly name: string;
  readonly lower: string;
  readonly upper: string;
  readonly fileNode: number;
  /** The planner's estimate; null before the first ANALYZE. */
  readonly rowsAbout: number | null;
  readonly bytes: number;
  /** `detach partition concurrently` was begun and not finished. */
  readonly isDetaching: boolean;
}

export interface Leaves {
  /** By lower bound. */
  readonly leaves: readonly Leaf[];
  readonly defaultName: string | null;
}

/**
 * The partitions of a range-partitioned table, by their bounds in the catalog. Bounds come as the text that made them,
 * in the session's time zone, so that they are read as values and printed anew: dates as `2024-03-10`, instants as
 * `2024-03-10T05:00:00Z`. MINVALUE and MAXVALUE become the words that sort before and after all of these.
 */
export async function readLeaves(tx: Tx, tableOid: number, columnType: ColumnType): Promise<Leaves> {
  const { rows } = await tx.query<
    Omit<Leaf, 'rowsAbout' | 'bytes' | 'fileNode'> & {
      isDefault: boolean;
      reltuples: number;
      bytes: string;
      fileNode: string;
    }
  >(
    `select c.oid, c.oid::pg_catalog.regclass::text as name, b.bound = 'DEFAULT' as "isDefault",
            ${canonical(`m[1]`, 'MINVALUE', '-infinity', columnType)} as lower,
            ${canonical(`m[2]`, 'MAXVALUE', 'infinity', columnType)} as upper,
            pg_catalog.pg_relation_filenode(c.oid)::text as "fileNode", c.reltuples, i.inhdetachpending as "isDetaching",
            pg_catalog.pg_total_relation_size(c.oid)::text as bytes
       from pg_catalog.pg_inherits i
       join pg_catalog.pg_class c on c.oid = i.inhrelid
      cross join lateral (select pg_catalog.pg_get_expr(c.relpartbound, c.oid) as bound) b
       left join lateral pg_catalog.regexp_match(b.bound, '^FOR VALUES FROM \\((.+)\\) TO \\((.+)\\)$') m on true
      where i.inhparent = $1
      order by 4`,
    [tableOid],
  );
  return {
    leaves: rows
      .filter((row) => !row.isDefault)
      .map(({ isDefault: _, reltuples, bytes, fileNode, ...leaf }) => ({
        ...leaf,
        fileNode: Number(fileNode),
        rowsAbout: reltuples < 0 ? null : Math.round(reltuples),
        bytes: Number(bytes),
      })),
    defaultName: rows.find((row) => row.isDefault)?.name ?? null,
  };
}

function canonical(bound: string, open: string, openAs: string, columnType: ColumnType): string {
  const value = `pg_catalog.btrim(${bound}, '''')`;
  const print =
    columnType === 'date'
      ? `pg_catalog.to_char(${value}::date, 'YYYY-MM-DD')`
      : `pg_catalog.replace(pg_catalog.to_char(${value}::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ'), '.000000Z', 'Z')`;
  return `case when ${bound} = '${open}' then '${openAs}' when ${value} in ('infinity', '-infinity') then ${value} else ${print} end`;
}

/** A partition's bounds as text of the column's type, in the form in which {@link readLeaves} prints bounds. */
export function lowerAndUpper(
  partition: Partition,
  columnType: ColumnType,
): { readonly lower: string; readonly upper: string } {
  return columnType === 'date'
    ? { lower: partition.startDate, upper: partition.endDate }
    : { lower: partition.start, upper: partition.end };
}

/** What the catalog has for one wanted partition. */
export type Match =
  | { readonly kind: 'exact'; readonly leaf: Leaf }
  | { readonly kind: 'missing' }
  | { readonly kind: 'other-bounds'; readonly leaf: Leaf };

/** Finds, for each wanted partition, the leaf with its bounds, or one that overlaps it. */
export function matchLeaves(leaves: readonly Leaf[], wanted: readonly Partition[], columnType: ColumnType): Match[] {
  const exact = new Map(leaves.map((leaf) => [`${leaf.lower}/${leaf.upper}`, leaf]));
  return wanted.map((partition) => {
    const { lower, upper } = lowerAndUpper(partition, columnType);
    const leaf = exact.get(`${lower}/${upper}`);
    if (leaf) return { kind: 'exact', leaf };
    const other = leaves.find((candidate) => isBefore(candidate.lower, upper) && isBefore(lower, candidate.upper));
    return other ? { kind: 'other-bounds', leaf: other } : { kind: 'missing' };
  });
}

/** Canonical bounds compare as text, but for the two words, and for the Z, which would sort after a fraction of a second. */
function isBefore(a: string, b: string): boolean {
  if (a === b || a === 'infinity' || b === '-infinity') return false;
  return a === '-infinity' || b === 'infinity' || a.replace(/Z$/, '') < b.replace(/Z$/, '');
}
