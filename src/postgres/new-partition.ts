import { createHash } from 'node:crypto';
import pg from 'pg';
import { MAX_IDENTIFIER_BYTES, type TableName, quoteTableName } from '../domain/table-name.js';
import type { Tx } from './database.js';
import { lowerAndUpper } from './leaves.js';
import type { Target } from './target.js';

/** What has to be known of a table to make a partition of it. */
export interface Site {
  /** Quoted name of the partition to be. */
  readonly leaf: string;
  /** The table's owner, quoted, where that is another role than ours. */
  readonly owner: string | null;
  /** Rows must come through the table: its insert triggers fire for them, or its identity columns number them. */
  readonly needsParent: boolean;
  /** Others that create partitions of the table must wait until this transaction ends. */
  readonly needsTurn: boolean;
}

export async function findSite(tx: Tx, { table, columns, partition }: Target): Promise<Site> {
  const names = newPartitionNames(table.name, partition.key).map((name) => quoteTableName({ ...table, name }));
  const { rows } = await tx.query<Omit<Site, 'leaf'> & { leaf: string | null }>(
    `select (select name from unnest($2::text[]) with ordinality as n (name, place)
              where to_regclass(name) is null order by place limit 1) as leaf,
            (select quote_ident(rolname) from pg_roles where oid = c.relowner and rolname <> current_user) as owner,
            needs.parent as "needsParent", needs.parent or p.partdefid <> 0 as "needsTurn"
       from pg_class c
       join pg_partitioned_table p on p.partrelid = c.oid
      cross join lateral (
              select exists (select from pg_trigger where tgrelid = c.oid and not tgisinternal and tgtype & 4 = 4)
                  or exists (select from pg_attribute where attrelid = c.oid and attidentity <> '' and not attisdropped
                              and attname <> all ($3::name[])) as parent) needs
      where c.oid = to_regclass($1)`,
    [quoteTableName(table), names, columns],
  );
  const { leaf = null, ...site } = rows[0] ?? { owner: null, needsParent: false, needsTurn: false };
  if (leaf !== null) return { ...site, leaf };
  throw new Error(
    `There is already a table named like the new partition ${partition.key} of ${quoteTableName(table)}, with other bounds`,
  );
}

/**
 * Makes a table that is going to be a partition: same columns, defaults, constraints and indexes, not attached yet.
 * `create table … partition of` is shorter, and locks every reader of the table out until the commit.
 */
export async function createDetached(tx: Tx, { table }: Target, site: Site, lockMs: number): Promise<void> {
  const { leaf, owner, needsTurn } = site;
  const statements = [
    ...(needsTurn ? takeTurn(table, lockMs) : []),
    // Identity columns get theirs from the table at attach time; a copy would be refused there.
    `create table ${leaf} (like ${quoteTableName(table)} including all excluding identity)`,
    ...(owner === null ? [] : [`alter table ${leaf} owner to ${owner}`]),
  ];
  await tx.query(statements.join('; '));
}

/**
 * Waits until no other transaction creates a partition of the table: two that have both deleted rows of its default
 * partition, and then both attach, would wait for each other (40P01). As long as it takes; a cancel ends it.
 */
function takeTurn(table: TableName, lockMs: number): string[] {
  const turn = pg.escapeLiteral(`backfill creates ${quoteTableName(table)}`);
  return [
    'set local lock_timeout = 0',
    `select pg_advisory_xact_lock(hashtextextended(${turn}, 0))`,
    `set local lock_timeout = '${lockMs}ms'`,
  ];
}

/** A new table has no statistics, and the planner would take it for ten pages. */
export function analyzeText({ leaf }: Site): string {
  return `analyze ${leaf}`;
}

/** Attaches it: from here on writers of the table may wait, readers never, but for those of a default partition. */
export function attachText({ table, partition, columnType }: Target, { leaf }: Site): string {
  const { lower, upper } = lowerAndUpper(partition, columnType);
  // The bounds are our own text of digits; utility statements take no parameters.
  return `alter table ${quoteTableName(table)} attach partition ${leaf} for values from ('${lower}') to ('${upper}')`;
}

/** The names to try, the plainest first: `fact_20240305`. The second is for a table of that name with other bounds. */
export function newPartitionNames(table: string, key: string): string[] {
  const suffix = `_${key.replaceAll(/[^0-9A-Za-z]/g, '')}`;
  return [cut(table, suffix), cut(table, `_${shortHash(`${table}/${key}`)}${suffix}`)];
}

/**
 * PostgreSQL cuts a long name silently at 63 bytes, which takes the day off its end: two days would have one name. So
 * the table's part is cut, by bytes and not within a letter, and a hash keeps apart tables that begin alike.
 */
function cut(name: string, suffix: string): string {
  if (Buffer.byteLength(name + suffix) <= MAX_IDENTIFIER_BYTES) return name + suffix;
  const end = `_${shortHash(name)}${suffix}`;
  let kept = name;
  while (Buffer.byteLength(kept + end) > MAX_IDENTIFIER_BYTES) kept = [...kept].slice(0, -1).join('');
  return kept + end;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
