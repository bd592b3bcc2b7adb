import type { Definition } from '../domain/definition.js';
import { type Dependent, dependent } from '../domain/impact.js';
import { mentionedNames } from '../domain/sql-lexer.js';
import { parseTableName, printTableName, quoteTableName } from '../domain/table-name.js';
import { findDependents } from '../postgres/dependents.js';
import { textOf } from '../postgres/try-build.js';
import type { Tx } from '../postgres/database.js';
import { type Dependencies, inLedger } from './dependencies.js';

/** Dependents that a plan names. */
const MOST_NAMED = 200;

/**
 * What depends on a table, directly or by way of others: what the catalog knows, the tables that other definitions build
 * from it, and the reports that definitions declare.
 * @param leafOids partitions that are written: a view may stand on one of them alone
 */
export async function findImpact(
  deps: Dependencies,
  definition: Definition,
  leafOids: readonly number[],
): Promise<{ readonly dependents: readonly Dependent[]; readonly more: number }> {
  const found = await inLedger(deps, (tx) => follow(tx, deps.definitions, definition, leafOids), { readOnly: true });
  return { dependents: found.slice(0, MOST_NAMED), more: Math.max(0, found.length - MOST_NAMED) };
}

async function follow(
  tx: Tx,
  definitions: readonly Definition[],
  first: Definition,
  leafOids: readonly number[],
): Promise<Dependent[]> {
  const found = new Map<string, Dependent>();
  const reports: Dependent[] = [];
  const add = (one: Dependent) => {
    const id = `${one.kind} ${one.name}`;
    if (!found.has(id)) found.set(id, one);
  };
  const built = new Set([first.name]);
  for (let next: readonly Definition[] = [first]; next.length > 0;) {
    for (const definition of next) {
      const oids = [...(await oidOf(tx, definition)), ...(definition === first ? leafOids : [])];
      const dependents = await findDependents(tx, oids);
      dependents.forEach(add);
      reports.push(...definition.reports.map((one) => dependent('report', one.name, `shows ${definition.name}`, one)));
    }
    const sources = [...built, ...[...found.values()].filter(({ kind }) => kind.endsWith('view')).map(canonical)];
    next = definitions.filter(({ name }) => !built.has(name)).filter((one) => readOf(one, sources) !== undefined);
    for (const one of next) {
      built.add(one.name);
      add(dependent('table', one.name, `is built from ${readOf(one, sources)}, by its own definition`));
    }
  }
  return [...found.values(), ...reports];
}

async function oidOf(tx: Tx, { table }: Definition): Promise<number[]> {
  const { rows } = await tx.query<{ oid: number | null }>('select to_regclass($1)::oid as oid', [
    quoteTableName(table),
  ]);
  return rows.flatMap(({ oid }) => (oid === null ? [] : [oid]));
}

/** The catalog quotes reserved words, which definitions need not. */
function canonical({ name }: Dependent): string {
  const parsed = parseTableName(name);
  return parsed ? printTableName(parsed) : name;
}

/** The first of these names that a definition declares to read, or whose build names it in full. */
function readOf({ reads, origin }: Definition, names: readonly string[]): string | undefined {
  const mentioned = mentionedNames(textOf(origin)).flatMap(({ parts: [schema, name] }) =>
    schema !== undefined && name !== undefined ? [printTableName({ schema, name })] : [],
  );
  return names.find((name) => reads.includes(name) || mentioned.includes(name));
}
