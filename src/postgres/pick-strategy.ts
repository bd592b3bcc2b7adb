import type { Definition } from '../domain/definition.js';
import { type ChosenStrategy, chooseStrategy } from '../domain/strategy.js';
import type { Tx } from './database.js';
import { type UniqueKey, findUniqueKey } from './unique-key.js';
import { TREE } from './writing-problems.js';

/** The way in which a plan's partitions are written, and what stands against it. */
export interface PickedStrategy extends ChosenStrategy {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** Other tables refer to rows of this one. */
  readonly isReferenced: boolean;
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
  const references = await readReferences(tx, oid, key?.columns ?? []);
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
  return { ...chosen, problems, warnings, isReferenced: references.length > 0 };
}

interface Reference {
  readonly name: string;
  readonly by: string;
  /** What happens to its rows without a word when one of the table's is deleted, or gets other values, as SQL says it. */
  readonly effects: readonly string[];
}

/**
 * Foreign keys that point to the table, or to a partition of it. Of a row that is changed the columns of its key keep
 * their values, but not always their bits, by which PostgreSQL tells whether the row that refers to it is concerned: 1.0
 * becomes 1.00, and in a citext A becomes a. Only where equal values have equal bits nothing happens.
 */
async function readReferences(tx: Tx, oid: number, key: readonly string[]): Promise<Reference[]> {
  const { rows } = await tx.query<Reference>(
    `select conname as name, conrelid::regclass::text as by,
            array_remove(array['on delete ' || ${actionText('confdeltype')},
              case when exists (
                select from unnest(confkey) k join pg_attribute a on a.attrelid = confrelid and a.attnum = k
                  left join pg_collation l on l.oid = a.attcollation
                 where not (a.attname::text = any ($2) and coalesce(l.collisdeterministic, true) and a.atttypid = any (
                   '{bool,int2,int4,int8,oid,date,timestamp,timestamptz,uuid,text,varchar}'::regtype[])))
              then 'on update ' || ${actionText('confupdtype')} end], null) as effects
       from pg_constraint
      where contype = 'f' and conparentid = 0 and confrelid in (select $1::oid union all ${TREE}) order by 2, 1`,
    [oid, key],
  );
  return rows;
}

function actionText(column: string): string {
  return `case ${column} when 'c' then 'cascade' when 'n' then 'set null' when 'd' then 'set default' end`;
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
    ...references.flatMap(({ by, name: foreignKey, effects }) =>
      effects.map((effect) => {
        const [when, remedy] = effect.startsWith('on delete')
          ? ['that the build no longer gives', 'on delete no action']
          : ['whose referred values the build changes', 'on update no action'];
        return `${by} refers to rows of ${name} with "${effect}" (foreign key ${foreignKey}): a row ${when} would change it without a word; make it "${remedy}"`;
      }),
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
