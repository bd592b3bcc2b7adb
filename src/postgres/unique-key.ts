import type { TableName } from '../domain/table-name.js';
import { quoteIdentifier, quoteTableName } from '../domain/table-name.js';
import type { Tx } from './database.js';

/** Columns that tell the rows of a table apart. */
export interface UniqueKey {
  /** Of the index, unquoted. */
  readonly name: string;
  readonly columns: readonly string[];
  /** The operator of each column, in full, that is true for equal values: `operator(pg_catalog.=)`. */
  readonly equals: readonly string[];
  /** The table has triggers, which may do something else than they are told. */
  readonly hasTriggers: boolean;
}

/**
 * The table's primary key, or another unique index, of columns that are never null and that a build gives. The operators
 * are the index's own: `=` of a type from an extension is found by no fixed name. What an index tells apart by a collation
 * of its own, or by what ranges have in common, these operators do not; and of tables that inherit it knows nothing.
 * @param given names of the columns that the build gives
 */
export async function findUniqueKey(tx: Tx, table: TableName, given: readonly string[]): Promise<UniqueKey | null> {
  const { rows } = await tx.query<UniqueKey>(
    `select c.relname as name, k.columns, k.equals,
            exists (select from pg_trigger
                     where (tgrelid = i.indrelid or tgrelid in (select relid from pg_partition_tree(i.indrelid)))
                       and not tgisinternal and tgenabled <> 'D') as "hasTriggers"
       from pg_index i
       join pg_class c on c.oid = i.indexrelid
      cross join lateral (
              select array_agg(a.attname::text order by n) as columns,
                     array_agg(format('operator(%I.%s)', s.nspname, o.oprname) order by n) as equals,
                     bool_and(a.attnotnull and a.attname = any ($2::name[]) and a.attcollation = part.compares) as fits
                from unnest(i.indkey::int2[], i.indclass::oid[], i.indcollation::oid[]) with ordinality as part (attnum, opclass, compares, n)
                left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = part.attnum
                left join pg_opclass y on y.oid = part.opclass
                left join pg_amop m on m.amopfamily = y.opcfamily and m.amopstrategy = 3
                                   and m.amoplefttype = y.opcintype and m.amoprighttype = y.opcintype
                left join pg_operator o on o.oid = m.amopopr
                left join pg_namespace s on s.oid = o.oprnamespace
               where n <= i.indnkeyatts) k
      where i.indrelid = to_regclass($1) and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
        and not i.indisexclusion and (c.relkind = 'I' or not exists (select from pg_inherits where inhparent = i.indrelid))
        and k.fits
      order by i.indisprimary desc, i.indnkeyatts, c.relname limit 1`,
    [quoteTableName(table), given],
  );
  return rows[0] ?? null;
}

/** `a.id = b.id and …`, fit to stand beside SQL of a definition. */
export function sameKey({ columns, equals }: UniqueKey, a: string, b: string): string {
  return columns
    .map((column, i) => `${a}.${quoteIdentifier(column)} ${equals[i]} ${b}.${quoteIdentifier(column)}`)
    .join(' and ');
}
