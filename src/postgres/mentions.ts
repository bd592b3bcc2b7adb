import { type MentionedName, mentionedNames } from '../domain/sql-lexer.js';
import { quoteIdentifier } from '../domain/table-name.js';
import type { Tx } from './database.js';

/** What a build's SQL leads to, through views and functions, as far as the catalog can tell. */
export interface Mentions {
  /** Definitions of the views and functions, by name: part of the build digest. */
  readonly definitions: readonly { readonly name: string; readonly definition: string }[];
  /** Oids of every relation, partitions counted as the table they belong to. */
  readonly relations: ReadonlySet<number>;
}

/**
 * Follows the names in a text. PostgreSQL records dependencies of views only, not of a query or of a function's body, so
 * names are taken from the text and looked up as the session would. It may find too much (a column named as a view);
 * then a change of that view counts as a change of the build, which is the safe side. Names put together at run time
 * (`execute format(…)`) are not seen.
 */
export async function followMentions(tx: Tx, sql: string): Promise<Mentions> {
  const definitions = new Map<string, string>();
  const relations = new Set<number>();
  let texts = [sql];
  while (texts.length > 0) {
    const names = texts.flatMap(mentionedNames);
    const found = [...(await findRelations(tx, names, relations)), ...(await findFunctions(tx, names))];
    const unseen = found.filter(({ name }) => !definitions.has(name));
    for (const { name, definition } of unseen) definitions.set(name, definition);
    texts = unseen.map(({ definition }) => definition);
  }
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  return { definitions: sorted.map(([name, definition]) => ({ name, definition })), relations };
}

interface Found {
  readonly name: string;
  readonly definition: string;
}

/** Adds the relations to `relations`, and returns the views among them. A dotted name may end in a column. */
async function findRelations(tx: Tx, names: readonly MentionedName[], relations: Set<number>): Promise<Found[]> {
  const candidates = new Set(
    names
      .flatMap(({ parts }) => [parts.slice(0, 1), parts.slice(0, 2)])
      .map((parts) => parts.map(quoteIdentifier).join('.')),
  );
  const seen = await tx.asUser(() =>
    tx.query<{ oid: number | null }>(
      `select pg_catalog.to_regclass(candidate)::pg_catalog.oid as oid from pg_catalog.unnest($1::pg_catalog.text[]) as candidate`,
      [[...candidates]],
    ),
  );
  const { rows } = await tx.query<{ oid: number; name: string; definition: string | null }>(
    `select distinct coalesce(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid) as oid, c.oid::pg_catalog.regclass::text as name,
            case when c.relkind in ('v', 'm') then pg_catalog.pg_get_viewdef(c.oid) end as definition
       from pg_catalog.pg_class c
      where c.oid = any ($1::pg_catalog.oid[]) and c.relnamespace <> 'pg_catalog'::pg_catalog.regnamespace`,
    [seen.rows.flatMap(({ oid }) => (oid === null ? [] : [oid]))],
  );
  for (const { oid } of rows) relations.add(oid);
  return rows.flatMap(({ name, definition }) => (definition === null ? [] : [{ name, definition }]));
}

async function findFunctions(tx: Tx, names: readonly MentionedName[]): Promise<Found[]> {
  const calls = names.filter(({ isCall, parts }) => isCall && parts.length <= 2);
  const visible = await tx.asUser(() =>
    tx.query<{ oid: number }>(
      `select p.oid from pg_catalog.pg_proc p
        where p.proname operator(pg_catalog.=) any ($1::pg_catalog.name[]) and pg_catalog.pg_function_is_visible(p.oid)`,
      [calls.map(({ parts }) => parts.at(-1))],
    ),
  );
  const { rows } = await tx.query<Found>(
    `select distinct p.oid::pg_catalog.regprocedure::text as name,
            case when p.prokind in ('f', 'p') then pg_catalog.pg_get_functiondef(p.oid) else p.prosrc end as definition
       from rows from (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) as called (schema, name)
       join pg_catalog.pg_proc p on p.proname = called.name
       join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where n.nspname not in ('pg_catalog', 'information_schema')
        and case when called.schema is null then p.oid = any ($3::pg_catalog.oid[]) else n.nspname = called.schema end`,
    [
      calls.map(({ parts }) => (parts.length === 2 ? parts[0] : null)),
      calls.map(({ parts }) => parts.at(-1)),
      visible.rows.map(({ oid }) => oid),
    ],
  );
  return rows;
}
