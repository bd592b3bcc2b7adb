import type { Definition } from '../domain/definition.js';
import type { Partitioning } from '../domain/grain.js';
import { type Partition, partitionHolding, partitionOf } from '../domain/range.js';
import { type PartitionRecord, recordState } from '../domain/table-state.js';
import { type TableFacts, readTable } from './catalog.js';
import type { Tx } from './database.js';
import { layoutOf } from './layout.js';
import { type Leaf, readLeaves } from './leaves.js';
import { type PartitionRow, readPartitionRows } from './ledger/partitions.js';
import { mapInTurns } from './map-in-turns.js';
import { isPartitionOf, matchLeaves } from './match-leaves.js';

/** A table as it is: every partition that the catalog or the ledger knows, oldest first. */
export interface RecordedTable {
  /** Why the table cannot be backfilled as it is; null where it can. */
  readonly problem: string | null;
  readonly exists: boolean;
  /** Keys of the partitions that are there, oldest first: those of the catalog, and of larger or smaller ones the recorded. */
  readonly keys: readonly string[];
  readonly records: readonly PartitionRecord[];
}

/** @param buildDigest of today's build, by which others are outdated */
export async function readRecords(tx: Tx, definition: Definition, buildDigest: string): Promise<RecordedTable> {
  const facts = await readTable(tx, definition.table);
  const found = await findPartitions(tx, definition, facts);
  const { partitions } = found;
  const rows = new Map((await readPartitionRows(tx, definition.name)).map((row) => [row.key, row]));
  const starts = new Map(partitions.map(({ key, start }) => [key, start]));
  const existing = new Set(partitions.map(({ key }) => key));
  const unmatched = [...rows.keys()].filter((key) => !starts.has(key));
  for (const key of unmatched) starts.set(key, '');
  const recorded = (await mapInTurns(unmatched, (key) => recordedPartition(definition, key) ?? [])).flat();
  for (const { key, start } of recorded) starts.set(key, start);
  for (const { key } of found.existing(recorded)) existing.add(key);
  const keys = [...starts].sort(([, a], [, b]) => (a < b ? -1 : 1)).map(([key]) => key);
  return {
    problem: found.problem,
    exists: facts !== null,
    keys: keys.filter((key) => existing.has(key)),
    records: keys.flatMap((key) => record(key, rows.get(key), { exists: existing.has(key), buildDigest })),
  };
}

interface Found {
  /** Those that have a place in the table. */
  existing(partitions: readonly Partition[]): readonly Partition[];
  readonly partitions: readonly Partition[];
  readonly problem: string | null;
}

async function findPartitions(tx: Tx, definition: Definition, facts: TableFacts | null): Promise<Found> {
  const layout = layoutOf(definition, facts);
  if (typeof layout === 'string') return { partitions: [], problem: layout, existing: () => [] };
  if (!layout.isCutByColumn) return { partitions: [], problem: null, existing: (all) => all };
  const { partitioning } = definition;
  const cut = { partitioning, columnType: layout.columnType };
  const { leaves } = await readLeaves(tx, layout.facts.oid, layout.columnType);
  const partitions = leaves.flatMap((leaf) => (isPartitionOf(leaf, cut) ? asPartition(partitioning, leaf) : []));
  const existing = (recorded: readonly Partition[]) => {
    const matches = matchLeaves(leaves, recorded, cut);
    return recorded.filter((_, i) => matches[i]?.kind !== 'missing');
  };
  return { partitions, problem: null, existing };
}

function asPartition(partitioning: Partitioning, { lower }: Leaf): Partition[] {
  const partition = partitionHolding(partitioning, lower);
  return partition ? [partition] : [];
}

/** Keys of an earlier grain or zone may be in the ledger; they come first. */
function recordedPartition({ partitioning }: Definition, key: string): Partition | undefined {
  try {
    return partitionOf(partitioning, key);
  } catch {
    return undefined;
  }
}

function record(
  key: string,
  row: PartitionRow | undefined,
  { exists, buildDigest }: { readonly exists: boolean; readonly buildDigest: string },
): PartitionRecord[] {
  const { generation = 0, rows = null, replacedAt = null, isProvisional = false, hasFailed = false } = row ?? {};
  const isOutdated = row?.buildDigest !== buildDigest;
  const state = recordState({ exists, generation, isProvisional, hasFailed, isOutdated });
  return state === undefined ? [] : [{ key, state, generation, rows, replacedAt }];
}
