import type { Definition } from '../../domain/definition.js';
import { mentionedNames } from '../../domain/sql-lexer.js';
import { parseTableName, quoteIdentifier, quoteTableName } from '../../domain/table-name.js';
import type { Tx } from '../database.js';
import { type Asked, textOf } from '../try-build.js';

/** Rights that the worker's role lacks, as the statements that would give them. */
export interface MissingGrants {
  /** To replace rows. */
  readonly write: readonly string[];
  /** To make partitions. */
  readonly create: readonly string[];
  /** To keep what is replaced. */
  readonly keep: readonly string[];
  /** To read what a build reads. */
  readonly read: readonly string[];
}

export async function missingGrants({ tx, source }: Asked, definition: Definition): Promise<MissingGrants> {
  return { ...(await missingOnTable(tx, definition)), read: await missingOnSources(source, definition) };
}

interface TableRights {
  readonly role: string;
  readonly missing: readonly string[] | null;
  readonly mayUse: boolean;
  readonly mayCreate: boolean;
  readonly isOwner: boolean;
  readonly mayKeep: boolean;
}

async function missingOnTable(tx: Tx, { table, strategy, keep }: Definition): Promise<Omit<MissingGrants, 'read'>> {
  const { rows } = await tx.query<TableRights>(
    `select pg_catalog.quote_ident(current_user) as role, pg_catalog.has_schema_privilege(n.oid, 'usage') as "mayUse",
            pg_catalog.has_schema_privilege(n.oid, 'create') as "mayCreate",
            pg_catalog.pg_has_role(c.relowner, 'usage') as "isOwner",
            pg_catalog.has_schema_privilege(pg_catalog.to_regnamespace($4), 'create') as "mayKeep",
            (select pg_catalog.array_agg(w.privilege order by w.place)
               from pg_catalog.unnest($3::text[]) with ordinality w (privilege, place)
              where not pg_catalog.has_table_privilege(c.oid, w.privilege)) as missing
       from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relname = $2`,
    [
      table.schema,
      table.name,
      ['select', 'insert', 'delete', ...(strategy === 'delete-insert' ? [] : ['update'])],
      tx.ledger,
    ],
  );
  const [rights] = rows;
  if (!rights) return { write: [], create: [], keep: [] };
  const { role, mayUse, mayCreate, mayKeep, isOwner, missing } = rights;
  const [name, schema] = [quoteTableName(table), quoteIdentifier(table.schema)];
  return {
    write: [
      ...(mayUse ? [] : [`grant usage on schema ${schema} to ${role};`]),
      ...(missing ? [`grant ${missing.join(', ')} on table ${name} to ${role};`] : []),
    ],
    create: [
      ...(isOwner ? [] : [`alter table ${name} owner to ${role};`]),
      ...(mayCreate ? [] : [`grant create on schema ${schema} to ${role};`]),
    ],
    keep: keep === null || mayKeep ? [] : [`grant create on schema ${tx.ledger} to ${role};`],
  };
}

interface SourceRights {
  readonly role: string;
  readonly schema: string;
  readonly table: string;
  readonly mayUse: boolean;
  readonly mayRead: boolean;
}

/**
 * Sources are found by name in the catalog, and not with `to_regclass`, which fails in a schema that one may not use.
 * What the text mentions may be a column that is called as a table: so this is asked only once the build was refused.
 */
async function missingOnSources(tx: Tx, { origin, reads }: Definition): Promise<string[]> {
  const mentioned = mentionedNames(textOf(origin)).map(({ parts }) => parts);
  const declared = reads.flatMap((name) => {
    const parsed = parseTableName(name);
    return parsed ? [[parsed.schema, parsed.name]] : [];
  });
  const names = [...mentioned.flatMap((parts) => [parts.slice(0, 1), parts.slice(0, 2)]), ...declared];
  const path = await tx.asUser(() =>
    tx.query<{ schemas: string[] }>('select pg_catalog.current_schemas(false)::pg_catalog.text[] as schemas'),
  );
  const { rows } = await tx.query<SourceRights>(
    `select distinct pg_catalog.quote_ident(current_user) as role, pg_catalog.quote_ident(n.nspname) as schema,
            pg_catalog.format('%I.%I', n.nspname, c.relname) as table,
            pg_catalog.has_schema_privilege(n.oid, 'usage') as "mayUse",
            pg_catalog.has_table_privilege(c.oid, 'select') as "mayRead"
       from rows from (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) w (schema, name)
       join pg_catalog.pg_class c on c.relname = w.name and c.relkind in ('r', 'p', 'v', 'm', 'f')
       join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        and case when w.schema is null then n.nspname = any ($3::pg_catalog.text[]) else n.nspname = w.schema end
      order by 3`,
    [
      names.map((parts) => (parts.length === 2 ? parts[0] : null)),
      names.map((parts) => parts.at(-1)),
      path.rows[0]?.schemas ?? [],
    ],
  );
  const grants = rows.flatMap(({ role, schema, table, mayUse, mayRead }) => [
    ...(mayUse ? [] : [`grant usage on schema ${schema} to ${role};`]),
    ...(mayRead ? [] : [`grant select on table ${table} to ${role};`]),
  ]);
  return [...new Set(grants)];
}
