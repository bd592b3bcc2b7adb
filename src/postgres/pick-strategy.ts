import type { Definition } from '../domain/definition.js';
import { type ChosenStrategy, chooseStrategy } from '../domain/strategy.js';
import type { Tx } from './database.js';
import { type UniqueKey, findUniqueKey } from './unique-key.js';
import { TREE } from './writing-problems.js';

/** The way in which a plan's partitions are written, and what stands against it. */
export interface PickedStrategy extends ChosenStrategy {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Comparisons that a plan looks back on. */
const LATELY = 500;

/** @param given names of the columns that the build gives */
export async function pickStrategy(
  tx: Tx,
  definition: Definition,
  { oid, given }: { readonly oid: number; readonly given: readonly string[] },
): Promise<PickedStrategy> {
  const key = await findUniqueKey(tx, definition.table, given);
  const references = await readReferences(tx, oid);
  const chosen = chooseStrategy(definition.strategy, {
    hasKey: key !== null,
    isReferenced: references.length > 0,
    shareChanged: await readShareChanged(tx, definition.name),
  });
  const isDiff = chosen.strategy === 'diff';
  const problems = isDiff
    ? diffProblems(definition, { given, key, references })
    : insertProblems(definition, references);
  const others = isDiff && key ? await otherUniqueIndexes(tx, oid, key) : [];
  const warnings = others.map(
    (index) => `Rows that exchange their values of the unique index ${index} fail the partition (strategy diff)`,
  );
  return { ...chosen, problems, warnings };
}

interface Reference {
  readonly name: string;
  readonly by: string;
  /** What happens to its rows when one of the table's is deleted, as SQL says it; null where nothing does. */
  readonly effect: string | null;
}

/** Foreign keys that point to the table, or to a partition of it. */
async function readReferences(tx: Tx, oid: number): Promise<Reference[]> {
  const { rows } = await tx.query<Reference>(
    `select conname as name, conrelid::regclass::text as by,
            case confdeltype when 'c' then 'cascade' when 'n' then 'set null' when 'd' then 'set default' end as effect
       from pg_constraint
      where contype = 'f' and conparentid = 0 and confrelid in (select $1::oid union all ${TREE}) order by 2, 1`,
    [oid],
  );
  return rows;
}

/** Deleting referenced rows fails, or deletes and empties rows of another table without a word. */
function insertProblems({ name }: Definition, references: readonly Reference[]): string[] {
  return references.map(
    (key) =>
      `${key.by} refers to rows of ${name} (foreign key ${key.name}); replacing them could delete or break its own. Strategy "diff" keeps the rows that the build gives again`,
  );
}

function diffProblems(
  { name }: Definition,
  { given, key, references }: { given: readonly string[]; key: UniqueKey | null; references: readonly Reference[] },
): string[] {
  const lacksKey = key === null && given.length > 0;
  return [
    ...(lacksKey
      ? [`${name} has no unique key of columns that are not null and that the build gives: strategy "diff" needs one`]
      : []),
    ...references
      .filter(({ effect }) => effect !== null)
      .map(
        (one) =>
          `${one.by} refers to rows of ${name} with "on delete ${one.effect}" (foreign key ${one.name}): a row that the build no longer gives would change it without a word; make it "on delete no action"`,
      ),
  ];
}

/** Of the rows in the latest comparisons, the part that was written; null where there was none. */
async function readShareChanged(tx: Tx, table: string): Promise<number | null> {
  const { rows } = await tx.query<{ share: number | null }>(
    `select sum(rows_added + rows_removed + rows_changed)::float8 / nullif(sum(rows_before + rows_added), 0)::float8 as share
       from (select rows_added, rows_removed, rows_changed, rows_before from ${tx.ledger}.replacement
              where table_name = $1 and strategy = 'diff' and committed_at > now() - interval '90 days'
              order by committed_at desc limit ${LATELY}) r`,
    [table],
  );
  return rows[0]?.share ?? null;
}

async function otherUniqueIndexes(tx: Tx, oid: number, key: UniqueKey): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = $1 and (i.indisunique or i.indisexclusion) and c.relname <> $2 order by 1`,
    [oid, key.name],
  );
  return rows.map(({ name }) => name);
}
