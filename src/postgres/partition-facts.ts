import { chunksOf } from '../domain/chunks.js';
import type { Definition } from '../domain/definition.js';
import { grainText } from '../domain/grain.js';
import type { PartitionFacts } from '../domain/planning.js';
import type { Partition } from '../domain/range.js';
import { castOf } from '../domain/sql-template.js';
import { quoteIdentifier, quoteTableName } from '../domain/table-name.js';
import type { Tx } from './database.js';
import type { Layout } from './layout.js';
import { type Leaf, lowerAndUpper } from './leaves.js';
import { type Cut, type Match, matchLeaves } from './match-leaves.js';
import { whyNotCreated } from './may-create.js';
import { positionsOf, timeOf } from './positions.js';

export interface FactsOptions {
  readonly layout: Layout;
  /** By lower bound. */
  readonly leaves: readonly Leaf[];
  /** Look into every partition for a first row. */
  readonly askEmpty: boolean;
}

/** Partitions asked for at once: the driver takes some hundred bytes for each text that it sends or gets. */
const AT_ONCE = 10_000;

interface LedgerRow {
  key: string;
  generation: string | null;
  rows: string | null;
  build: string | null;
  provisional: boolean | null;
  failed: boolean | null;
  empty: boolean | null;
}

export async function partitionFacts(
  tx: Tx,
  definition: Definition,
  partitions: readonly Partition[],
  options: FactsOptions,
): Promise<PartitionFacts[]> {
  const { isCutByColumn, columnType } = options.layout;
  const cut = { partitioning: definition.partitioning, columnType };
  const matches = isCutByColumn ? matchLeaves(options.leaves, partitions, cut) : [];
  const facts: PartitionFacts[] = [];
  for (const chunk of chunksOf(partitions, AT_ONCE)) {
    const rows = await readLedger(tx, definition, chunk, options);
    for (const [i, partition] of chunk.entries()) {
      const match = matches[facts.length];
      const row = rows[i];
      facts.push({
        key: partition.key,
        ...(match ? placeOf(match, partition, definition, cut) : { home: 'table', leaf: null, obstacle: null }),
        isEmpty: row?.empty ?? null,
        generation: Number(row?.generation ?? 0),
        rowsRecorded: typeof row?.rows === 'string' ? Number(row.rows) : null,
        buildDigest: row?.build ?? null,
        isProvisional: row?.provisional ?? false,
        hasFailed: row?.failed ?? false,
      });
    }
  }
  return facts;
}

async function readLedger(
  tx: Tx,
  definition: Definition,
  partitions: readonly Partition[],
  { layout: { columnType }, askEmpty }: FactsOptions,
): Promise<LedgerRow[]> {
  const bounds = partitions.map((partition) => lowerAndUpper(partition, columnType));
  const column = quoteIdentifier(definition.partitioning.column);
  const type = castOf(columnType);
  const empty = askEmpty
    ? `not exists (select from ${quoteTableName(definition.table)} t where t.${column} >= k.lower::${type} and t.${column} < k.upper::${type})`
    : 'null::boolean';
  const { rows } = await tx.query<LedgerRow>(
    `select k.key, p.generation, p.row_count as rows, p.build_digest as build, p.provisional, p.failed_at is not null as failed, ${empty} as empty
       from rows from (pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[])) with ordinality as k (key, lower, upper, n)
       left join ${tx.ledger}.partition p on p.table_name = $1 and p.key = k.key
      order by k.n`,
    [
      definition.name,
      partitions.map(({ key }) => key),
      bounds.map(({ lower }) => lower),
      bounds.map(({ upper }) => upper),
    ],
  );
  return rows;
}

type Place = Pick<PartitionFacts, 'home' | 'leaf' | 'obstacle'>;

function placeOf(match: Match, partition: Partition, definition: Definition, cut: Cut): Place {
  const home = 'partitions';
  switch (match.kind) {
    case 'exact':
    case 'within': {
      const { oid, fileNode } = match.leaf;
      const leaf = { oid, fileNode, ...shareOf([match.leaf], partition, cut) };
      return { home, leaf, obstacle: detaching([match.leaf], definition.name) };
    }
    case 'tiled': {
      // Which tables they are is not told apart: a plan knows that its key has a place, not which.
      const leaf = { oid: null, fileNode: null, ...shareOf(match.leaves, partition, cut) };
      return { home, leaf, obstacle: detaching(match.leaves, definition.name) };
    }
    case 'partly':
      return { home, leaf: null, obstacle: partlyMissing(match, partition, definition) };
    case 'cut':
      return { home, leaf: null, obstacle: otherBounds(match, partition, definition, cut) };
    case 'missing':
      return { home: 'missing', leaf: null, obstacle: whyNotCreated(match, partition, definition, cut) };
    default:
      return match satisfies never;
  }
}

/** What of the leaves falls to the partition, if rows lie evenly in time. */
function shareOf(leaves: readonly Leaf[], partition: Partition, { columnType }: Cut) {
  const { lower, upper } = positionsOf(partition, columnType);
  const shares = leaves.map((leaf) => {
    const [from, until] = [timeOf(leaf.lower), timeOf(leaf.upper)];
    const share = (Math.min(until, timeOf(upper)) - Math.max(from, timeOf(lower))) / (until - from);
    return { rows: leaf.rowsAbout === null ? NaN : leaf.rowsAbout * share, bytes: leaf.bytes * share };
  });
  const rows = shares.reduce((sum, share) => sum + share.rows, 0);
  const bytes = shares.reduce((sum, share) => sum + share.bytes, 0);
  return { rowsAbout: Number.isNaN(rows) ? null : Math.round(rows), bytes: Math.round(bytes) || 0 };
}

function detaching(leaves: readonly Leaf[], table: string): PartitionFacts['obstacle'] {
  const leaf = leaves.find(({ isDetaching }) => isDetaching);
  if (!leaf) return null;
  const remedy = `alter table ${table} detach partition ${leaf.name} finalize`;
  return { about: leaf.name, text: `${leaf.name} is half detached from ${table}: finish with "${remedy}"` };
}

function otherBounds(
  { leaf }: Extract<Match, { kind: 'cut' }>,
  partition: Partition,
  { partitioning: { grain, timeZone } }: Definition,
  { columnType }: Cut,
): PartitionFacts['obstacle'] {
  const { lower, upper } = positionsOf(partition, columnType);
  const unit = grain === 'hour' ? 'hour' : 'day';
  return {
    about: leaf.name,
    text: `${leaf.name} holds [${leaf.lower}, ${leaf.upper}), and ${partition.key} is [${lower}, ${upper}): a bound that is no beginning of ${unit === 'hour' ? 'an' : 'a'} ${unit} in ${timeZone} is not the definition's`,
  };
}

function partlyMissing(
  { gap }: Extract<Match, { kind: 'partly' }>,
  { key }: Partition,
  { name, partitioning }: Definition,
): PartitionFacts['obstacle'] {
  const text = `${key}, ${grainText(partitioning)}, has partitions of ${name} for a part only: nothing holds [${gap.lower}, ${gap.upper}); create that first`;
  return { about: `${gap.lower}/${gap.upper}`, text };
}
