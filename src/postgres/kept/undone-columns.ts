import type { Definition } from '../../domain/definition.js';
import { quoteIdentifier } from '../../domain/table-name.js';
import type { UndoFacts } from '../../domain/undo.js';
import { type ColumnFacts, readTable } from '../catalog.js';
import type { Tx } from '../database.js';
import type { Kept } from '../ledger/kept.js';
import { attempt } from '../try-build.js';
import { findUniqueKey } from '../unique-key.js';
import { quoteCopy, storedColumns } from './copy.js';

/** How the columns of a copy fit the table of today. */
export interface UndoneColumns extends Pick<UndoFacts, 'columns' | 'numbered' | 'sameRow'> {
  /** For which nothing can be put back without a loss, in sentences. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Columns are matched by name. @param kept null where there is no copy: then nothing is put back */
export async function matchColumns(tx: Tx, { table, name }: Definition, kept: Kept | null): Promise<UndoneColumns> {
  const facts = await readTable(tx, table);
  // That there is no such table is told by the look at the table itself.
  if (!facts) return { columns: [], numbered: [], sameRow: null, problems: [], warnings: [] };
  const present = new Map(facts.columns.map((column) => [column.name, column]));
  const hasCopy = kept !== null && kept.relation !== null && !kept.isDropped;
  const copied = hasCopy ? await readCopied(tx, quoteCopy(tx.ledger, kept.relation ?? '')) : null;
  const names = copied ? (kept?.columns ?? []) : storedColumns(facts);
  const gone = names.filter((one) => !present.has(one));
  const generated = names.filter((one) => present.get(one)?.isGenerated);
  const altered = copied ? names.flatMap((one) => alteredType(one, copied, present)) : [];
  const lossy = copied ? await findLossy(tx, quoteCopy(tx.ledger, kept?.relation ?? ''), altered) : [];
  const added = facts.columns.filter((one) => !one.isGenerated && !names.includes(one.name));
  const required = added.filter((one) => one.isRequired && !one.hasValueOfItsOwn);
  const listed = (columns: readonly { readonly name: string }[]) => columns.map((one) => one.name).join(', ');
  const sentence = (found: readonly unknown[], text: string) => (found.length === 0 ? [] : [text]);
  const types = new Map(altered.map((one) => [one.name, one.to]));
  const usable = names.filter((one) => present.has(one) && !present.get(one)?.isGenerated);
  const key = await findUniqueKey(tx, table, usable);
  return {
    columns: usable.map((one) => ({ name: one, type: types.get(one) ?? null })),
    numbered: facts.columns.filter((one) => one.isNumbered && usable.includes(one.name)).map((one) => one.name),
    sameRow: key && { columns: key.columns, equals: key.equals },
    problems: [
      ...sentence(gone, `${name} has no column ${gone.join(', ')} any more, of which what was replaced has values`),
      ...sentence(generated, `${name} computes ${generated.join(', ')} today, of which what was replaced has values`),
      ...lossy.map(
        ({ name: column, to, why }) =>
          `${name}.${column} is ${to} today, which cannot take every value that was replaced${why}`,
      ),
      ...sentence(
        required,
        `${name} demands a value of ${listed(required)}, which came since: what was replaced has none`,
      ),
    ],
    warnings: sentence(added, `Columns that came since get their defaults: ${listed(added)}`),
  };
}

interface Altered {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

async function readCopied(tx: Tx, copy: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await tx.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [copy],
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

function alteredType(
  name: string,
  copied: ReadonlyMap<string, string>,
  present: ReadonlyMap<string, ColumnFacts>,
): Altered[] {
  const [from, to] = [copied.get(name), present.get(name)?.type];
  return from === undefined || to === undefined || from === to ? [] : [{ name, from, to }];
}

/** Those of which a value would come back from its new type as another one, or cannot go there at all. */
async function findLossy(tx: Tx, copy: string, altered: readonly Altered[]): Promise<(Altered & { why: string })[]> {
  const lossy = [];
  for (const one of altered) {
    const column = quoteIdentifier(one.name);
    const found = await attempt(tx, () =>
      tx.query(
        `select from ${copy} where ${column} is not null and (${column}::${one.to})::${one.from}::text is distinct from ${column}::text limit 1`,
      ),
    );
    if (typeof found === 'string') lossy.push({ ...one, why: `: ${found}` });
    else if (found.rowCount !== 0) lossy.push({ ...one, why: '' });
  }
  return lossy;
}
