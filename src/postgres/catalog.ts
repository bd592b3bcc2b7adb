import type { TableName } from '../domain/table-name.js';
import type { Tx } from './database.js';

/** What the catalog says of a table. */
export interface TableFacts {
  readonly oid: number;
  readonly isPartitioned: boolean;
  /** How it is partitioned, as PostgreSQL prints it: `RANGE (day)`. Null for a plain table. */
  readonly partitionKey: string | null;
  /** The one column of a range partitioning; null for everything else. */
  readonly rangeColumn: string | null;
  readonly columns: readonly ColumnFacts[];
  /** Everything on which a replacement depends, as text; see {@link readShape}. */
  readonly shape: string;
}

export interface ColumnFacts {
  readonly name: string;
  readonly type: string;
  /** The column may be left out of an insert: it has a default, or makes its own value. */
  readonly hasValueOfItsOwn: boolean;
  /** Generated always: it must be left out. */
  readonly isGenerated: boolean;
  /** Generated always as identity: a value that is given needs `overriding system value`. */
  readonly isNumbered: boolean;
  /** It takes no null. */
  readonly isRequired: boolean;
}

interface TableRow {
  oid: number;
  relkind: string;
  partkey: string | null;
  strategy: string | null;
  column: string | null;
}

/** Null where there is no such table (a view is none). */
export async function readTable(tx: Tx, { schema, name }: TableName): Promise<TableFacts | null> {
  const table = await tx.query<TableRow>(
    `select c.oid, c.relkind, pg_catalog.pg_get_partkeydef(c.oid) as partkey, p.partstrat as strategy,
            a.attname as "column"
       from pg_catalog.pg_class c
       join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       left join pg_catalog.pg_partitioned_table p on p.partrelid = c.oid
       left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = p.partattrs[0] and p.partnatts = 1
      where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p')`,
    [schema, name],
  );
  const row = table.rows[0];
  if (!row) return null;
  return {
    oid: row.oid,
    isPartitioned: row.relkind === 'p',
    partitionKey: row.partkey,
    rangeColumn: row.strategy === 'r' ? row.column : null,
    columns: await readColumns(tx, row.oid),
    shape: await readShape(tx, row.oid),
  };
}

async function readColumns(tx: Tx, oid: number): Promise<ColumnFacts[]> {
  const { rows } = await tx.query<ColumnFacts>(
    `select attname as name, pg_catalog.format_type(atttypid, atttypmod) as type,
            (atthasdef or attidentity <> '') as "hasValueOfItsOwn", attgenerated <> '' as "isGenerated",
            attidentity = 'a' as "isNumbered", attnotnull as "isRequired"
       from pg_catalog.pg_attribute
      where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`,
    [oid],
  );
  return rows;
}

/**
 * The table's oid, partition key, and columns with type, nullability, default and kind. A plan holds it, and each
 * replacement compares it, so that an `alter table` between review and run is seen. Order of columns does not count.
 */
async function readShape(tx: Tx, oid: number): Promise<string> {
  const { rows } = await tx.query<{ shape: string }>(shapeText('$1'), [oid]);
  return rows[0]?.shape ?? '';
}

/** Selects the shape of the table whose oid an expression gives; no row where there is none. */
export function shapeText(oid: string): string {
  return `select pg_catalog.concat_ws(E'\\n',
              'table ' || c.oid, pg_catalog.pg_get_partkeydef(c.oid),
              pg_catalog.string_agg(
                pg_catalog.format('%I %s%s%s', a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
                  case when a.attnotnull then ' not null' else '' end,
                  coalesce(' ' || nullif(pg_catalog.concat(a.attidentity, a.attgenerated, ' ', pg_catalog.pg_get_expr(d.adbin, d.adrelid)), ' '), '')),
                E'\\n' order by a.attname)) as shape
       from pg_catalog.pg_class c
       join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where c.oid = ${oid} group by c.oid`;
}
