import { type Dependent, type DependentKind, dependent } from '../domain/impact.js';
import { mentionedNames } from '../domain/sql-lexer.js';
import { type TableName, parseTableName } from '../domain/table-name.js';
import type { Tx } from './database.js';

/**
 * What the catalog knows to depend on some tables, nearest first: views, materialized views and functions on them, and
 * on those, and so on; foreign keys that point at them; and functions whose body is a text that names one of them, of
 * which PostgreSQL records nothing (measured: neither PL/pgSQL nor SQL in quotes).
 * @param oids tables and partitions of them
 */
export async function findDependents(tx: Tx, oids: readonly number[]): Promise<Dependent[]> {
  const reached = await follow(tx, oids);
  const names = new Set(reached.flatMap(({ name, kind }) => (kind === 'function' ? [] : [name])));
  const roots = await tx.query<{ name: string }>(
    `select c.oid::pg_catalog.regclass::text as name from pg_catalog.unnest($1::pg_catalog.oid[]) c (oid)`,
    [oids],
  );
  for (const { name } of roots.rows) names.add(name);
  return [
    ...reached.map(({ kind, name, via }) => dependent(kind, name, reasonOf(kind, via))),
    ...(await foreignKeys(tx, oids)),
    ...(await namedInBodies(tx, [...names], new Set(reached.map(({ name }) => name)))),
  ];
}

interface Reached {
  readonly kind: DependentKind;
  readonly name: string;
  readonly via: string;
}

function reasonOf(kind: DependentKind, via: string): string {
  return kind === 'materialized view' ? `reads ${via}; shows old rows until it is refreshed` : `reads ${via}`;
}

/** Each object once, by the shortest way to it. Functions can call each other in circles, so that the way has an end. */
async function follow(tx: Tx, oids: readonly number[]): Promise<Reached[]> {
  const { rows } = await tx.query<Reached>(
    `with recursive reached (classid, objid, via, depth) as (
       select 'pg_class'::regclass::oid, t.oid, null::text, 0 from pg_catalog.unnest($1::pg_catalog.oid[]) t (oid)
       union
       select case when w.oid is null then d.classid else 'pg_class'::regclass::oid end, coalesce(w.ev_class, d.objid),
              case when u.classid = 'pg_class'::regclass then u.objid::regclass::text else u.objid::regprocedure::text end,
              u.depth + 1
         from reached u
         join pg_depend d on d.refclassid = u.classid and d.refobjid = u.objid and d.deptype in ('n', 'a')
         left join pg_rewrite w on d.classid = 'pg_rewrite'::regclass and w.oid = d.objid
        where (w.ev_class is distinct from u.objid) and (w.oid is not null or d.classid = 'pg_proc'::regclass) and u.depth < 32
     )
     select kind, name, via from (
       select distinct on (r.classid, r.objid) r.depth, r.via,
              case when r.classid = 'pg_proc'::regclass then r.objid::regprocedure::text else r.objid::regclass::text end as name,
              case when r.classid = 'pg_proc'::regclass then 'function' when c.relkind = 'm' then 'materialized view' else 'view' end as kind
         from reached r left join pg_class c on r.classid = 'pg_class'::regclass and c.oid = r.objid
        where r.depth > 0 and (r.classid <> 'pg_class'::regclass or c.relkind in ('v', 'm'))
        order by r.classid, r.objid, r.depth, r.via) nearest
      order by depth, name`,
    [oids],
  );
  return rows;
}

async function foreignKeys(tx: Tx, oids: readonly number[]): Promise<Dependent[]> {
  const { rows } = await tx.query<{ name: string; by: string; to: string }>(
    `select conname as name, conrelid::regclass::text as by, confrelid::regclass::text as to from pg_constraint
      where contype = 'f' and confrelid = any ($1::oid[]) and conparentid = 0 and conrelid <> confrelid order by 2, 1`,
    [oids],
  );
  return rows.map(({ name, by, to }) => dependent('foreign key', `${by} (${name})`, `its rows point at rows of ${to}`));
}

/** Words of a text may be anything, so that it is possible and no more. */
async function namedInBodies(tx: Tx, names: readonly string[], known: ReadonlySet<string>): Promise<Dependent[]> {
  const tables = names.flatMap((text) => {
    const name = parseTableName(text);
    return name ? [{ text, name }] : [];
  });
  const { rows } = await tx.query<{ name: string; body: string }>(
    `select p.oid::regprocedure::text as name, p.prosrc as body
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
      where n.nspname not in ('pg_catalog', 'information_schema') and l.lanname not in ('internal', 'c') and p.prosqlbody is null
        and exists (select from unnest($1::text[]) t (name) where position(t.name in lower(p.prosrc)) > 0)
      order by 1`,
    [tables.map(({ name }) => name.name.toLowerCase())],
  );
  return rows.flatMap(({ name, body }) => {
    if (known.has(name)) return [];
    const mentioned = mentionedNames(body).map(({ parts }) => parts);
    const read = tables.find((table) => mentioned.some((parts) => isName(parts, table.name)));
    return read ? [dependent('function', name, `may read ${read.text}: its text names it`)] : [];
  });
}

/** A name in a text may stand without its schema, and with a column behind it. */
function isName(parts: readonly string[], { schema, name }: TableName): boolean {
  return parts[0] === name || (parts[0] === schema && parts[1] === name);
}
