import type { Partition } from '../domain/range.js';
import type { ColumnType } from '../domain/sql-template.js';
import { isInteger, isBefore, positionOfNumber } from './positions.js';
import type { Tx } from './database.js';

/** A direct partition of the table. Bounds are positions, see {@link positionsOf}. */
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
  /** It is cut into partitions itself. */
  readonly isPartitioned: boolean;
}

export interface Leaves {
  /** By lower bound. */
  readonly leaves: readonly Leaf[];
  readonly defaultName: string | null;
}

type LeafRow = Omit<Leaf, 'rowsAbout' | 'bytes' | 'fileNode'> & {
  readonly isDefault: boolean;
  readonly reltuples: number;
  readonly bytes: string;
  readonly fileNode: string;
};

/**
 * The partitions of a range-partitioned table, by their bounds in the catalog. Bounds come as the text that made them,
 * in the session's time zone, so that they are read as values and printed anew. MINVALUE and MAXVALUE become the words
 * that sort before and after all of these.
 */
export async function readLeaves(tx: Tx, tableOid: number, columnType: ColumnType): Promise<Leaves> {
  const { rows } = await tx.query<LeafRow>(
    `select c.oid, c.oid::pg_catalog.regclass::text as name, b.bound = 'DEFAULT' as "isDefault",
            ${canonical(`m[1]`, 'MINVALUE', '-infinity', columnType)} as lower,
            ${canonical(`m[2]`, 'MAXVALUE', 'infinity', columnType)} as upper,
            pg_catalog.pg_relation_filenode(c.oid)::text as "fileNode", c.reltuples, i.inhdetachpending as "isDetaching",
            c.relkind = 'p' as "isPartitioned", pg_catalog.pg_total_relation_size(c.oid)::text as bytes
       from pg_catalog.pg_inherits i
       join pg_catalog.pg_class c on c.oid = i.inhrelid
      cross join lateral (select pg_catalog.pg_get_expr(c.relpartbound, c.oid) as bound) b
       left join lateral pg_catalog.regexp_match(b.bound, '^FOR VALUES FROM \\((.+)\\) TO \\((.+)\\)$') m on true
      where i.inhparent = $1`,
    [tableOid],
  );
  const leaves = rows.filter((row) => !row.isDefault).map((row) => leafOf(row, columnType));
  return {
    leaves: leaves.sort((a, b) => (isBefore(a.lower, b.lower) ? -1 : 1)),
    defaultName: rows.find((row) => row.isDefault)?.name ?? null,
  };
}

function leafOf({ isDefault: _, reltuples, bytes, fileNode, ...leaf }: LeafRow, columnType: ColumnType): Leaf {
  const position = (bound: string) => (isInteger(columnType) ? positionOfNumber(bound, columnType) : bound);
  return {
    ...leaf,
    lower: position(leaf.lower),
    upper: position(leaf.upper),
    fileNode: Number(fileNode),
    rowsAbout: reltuples < 0 ? null : Math.round(reltuples),
    bytes: Number(bytes),
  };
}

function canonical(bound: string, open: string, openAs: string, columnType: ColumnType): string {
  const value = `pg_catalog.btrim(${bound}, '''')`;
  return `case when ${bound} = '${open}' then '${openAs}' when ${value} in ('infinity', '-infinity') then ${value} else ${printed(value, columnType)} end`;
}

function printed(value: string, columnType: ColumnType): string {
  const time = (of: string, zone: string) =>
    `pg_catalog.replace(pg_catalog.to_char(${of}, 'YYYY-MM-DD"T"HH24:MI:SS.US${zone}'), '.000000', '')`;
  if (isInteger(columnType)) return value;
  switch (columnType) {
    case 'date':
      return `pg_catalog.to_char(${value}::date, 'YYYY-MM-DD')`;
    case 'timestamp with time zone':
      return time(`${value}::timestamptz at time zone 'UTC'`, 'Z');
    case 'timestamp without time zone':
      return time(`${value}::timestamp`, '');
    default:
      return columnType satisfies never;
  }
}

/** A partition's bounds as text that PostgreSQL reads as the column's type. */
export function lowerAndUpper(
  partition: Partition,
  columnType: ColumnType,
): { readonly lower: string; readonly upper: string } {
  const { start, end, startDate, endDate, startLocal, endLocal } = partition;
  const epoch = (instant: string, perSecond: number) => String((Date.parse(instant) / 1000) * perSecond);
  switch (columnType) {
    case 'date':
      return { lower: startDate, upper: endDate };
    case 'timestamp with time zone':
      return { lower: start, upper: end };
    case 'timestamp without time zone':
      return { lower: startLocal, upper: endLocal };
    case 'integer as yyyymmdd':
    case 'bigint as yyyymmdd':
      return { lower: startDate.replaceAll('-', ''), upper: endDate.replaceAll('-', '') };
    case 'integer as epoch-seconds':
    case 'bigint as epoch-seconds':
      return { lower: epoch(start, 1), upper: epoch(end, 1) };
    case 'integer as epoch-milliseconds':
    case 'bigint as epoch-milliseconds':
      return { lower: epoch(start, 1000), upper: epoch(end, 1000) };
    default:
      return columnType satisfies never;
  }
}
