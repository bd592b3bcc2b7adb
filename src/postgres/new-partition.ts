import { createHash } from 'node:crypto';
import { MAX_IDENTIFIER_BYTES, type TableName, quoteTableName } from '../domain/table-name.js';
import type { Tx } from './database.js';
import { lowerAndUpper } from './leaves.js';
import type { Target } from './target.js';

/**
 * Makes a table that is going to be a partition: same columns, defaults, constraints and indexes, not attached yet.
 * `create table … partition of` is shorter, and locks every reader of the table out until the commit.
 */
export async function createDetached(tx: Tx, { table, partition }: Target): Promise<TableName> {
  const leaf = await freeName(tx, table, partition.key);
  // Identity columns get theirs from the table at attach time; a copy would be refused there.
  await tx.query(
    `create table ${quoteTableName(leaf)} (like ${quoteTableName(table)} including all excluding identity)`,
  );
  const { rows } = await tx.query<{ owner: string }>(
    `select pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(relowner)) as owner from pg_catalog.pg_class
      where oid = pg_catalog.to_regclass($1) and relowner <> (select oid from pg_catalog.pg_roles where rolname = current_user)`,
    [quoteTableName(table)],
  );
  if (rows[0]) await tx.query(`alter table ${quoteTableName(leaf)} owner to ${rows[0].owner}`);
  return leaf;
}

export interface CreatingNeeds {
  /** Rows must come through the table: its insert triggers fire for them, or its identity columns number them. */
  readonly parent: boolean;
  /** Others that create partitions of the table must wait until this transaction ends. */
  readonly turn: boolean;
}

/** What has to be heeded when a partition of the table is created and filled. */
export async function whatCreatingNeeds(tx: Tx, { table, columns }: Target): Promise<CreatingNeeds> {
  const { rows } = await tx.query<{ parent: boolean; hasDefault: boolean }>(
    `select exists (select from pg_trigger where tgrelid = c.oid and not tgisinternal and tgtype & 4 = 4)
            or exists (select from pg_attribute where attrelid = c.oid and attidentity <> '' and not attisdropped
                        and attname <> all ($2::name[])) as parent,
            p.partdefid <> 0 as "hasDefault"
       from pg_class c join pg_partitioned_table p on p.partrelid = c.oid where c.oid = to_regclass($1)`,
    [quoteTableName(table), columns],
  );
  const { parent = false, hasDefault = false } = rows[0] ?? {};
  return { parent, turn: parent || hasDefault };
}

/**
 * Waits until no other transaction creates a partition of the table: two that have both deleted rows of its default
 * partition, and then both attach, would wait for each other (40P01). As long as it takes; a cancel ends it.
 */
export async function takeTurn(tx: Tx, { table }: Target): Promise<void> {
  const { rows } = await tx.query<{ limit: string }>(
    `select current_setting('lock_timeout') as limit, set_config('lock_timeout', '0', true)`,
  );
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `backfill creates ${quoteTableName(table)}`,
  ]);
  await tx.query(`select set_config('lock_timeout', $1, true)`, [rows[0]?.limit ?? '0']);
}

/** A new table has no statistics, and the planner would take it for ten pages. */
export async function analyze(tx: Tx, leaf: TableName): Promise<void> {
  await tx.query(`analyze ${quoteTableName(leaf)}`);
}

/** Attaches it: from here on writers of the table may wait, readers never, but for those of a default partition. */
export async function attach(tx: Tx, target: Target, leaf: TableName): Promise<void> {
  const { lower, upper } = lowerAndUpper(target.partition, target.columnType);
  // The bounds are our own text of digits; utility statements take no parameters.
  await tx.query(
    `alter table ${quoteTableName(target.table)} attach partition ${quoteTableName(leaf)} for values from ('${lower}') to ('${upper}')`,
  );
}

async function freeName(tx: Tx, table: TableName, key: string): Promise<TableName> {
  for (const name of newPartitionNames(table.name, key)) {
    const candidate = { schema: table.schema, name };
    const { rows } = await tx.query<{ taken: boolean }>('select pg_catalog.to_regclass($1) is not null as taken', [
      quoteTableName(candidate),
    ]);
    if (!rows[0]?.taken) return candidate;
  }
  throw new Error(
    `There is already a table named like the new partition ${key} of ${quoteTableName(table)}, with other bounds`,
  );
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
