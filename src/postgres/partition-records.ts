import type { Definition } from '../domain/definition.js';
import { type Partition, partitionHolding, partitionOf } from '../domain/range.js';
import { type PartitionRecord, recordState } from '../domain/table-state.js';
import { type TableFacts, readTable, supportedColumnType } from './catalog.js';
import type { Tx } from './database.js';
import { type Leaf, lowerAndUpper, readLeaves } from './leaves.js';
import { type PartitionRow, readPartitionRows } from './ledger/partitions.js';
import type { ColumnType } from '../domain/sql-template.js';
import { whyNotSupported } from './survey.js';

/** A table as it is: every partition that the catalog or the ledger knows, oldest first. */
export interface RecordedTable {
  /** Why the table cannot be backfilled as it is; null where it can. */
  readonly problem: string | null;
  readonly exists: boolean;
  /** Keys of the partitions in the catalog with the definition's bounds, oldest first. */
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
  for (const key of rows.keys()) if (!starts.has(key)) starts.set(key, startOf(definition, key));
  const keys = [...starts].sort(([, a], [, b]) => (a < b ? -1 : 1)).map(([key]) => key);
  const existing = new Set(partitions.map(({ key }) => key));
  return {
    problem: found.problem,
    exists: facts !== null,
    keys: keys.filter((key) => existing.has(key)),
    records: keys.flatMap((key) => record(key, rows.get(key), { exists: existing.has(key), buildDigest })),
  };
}

interface Found {
  readonly partitions: readonly Partition[];
  readonly problem: string | null;
}

async function findPartitions(tx: Tx, definition: Definition, facts: TableFacts | null): Promise<Found> {
  const columnType = facts && supportedColumnType(facts);
  if (!facts || !columnType || facts.rangeColumn !== definition.partitioning.column) {
    return { partitions: [], problem: whyNotSupported(definition, facts) };
  }
  const { leaves } = await readLeaves(tx, facts.oid, columnType);
  const partitions = leaves.flatMap((leaf) => asPartition(definition, leaf, columnType));
  const others = leaves.length - partitions.length;
  const problem =
    others === 0 ? null : `${others} of its partitions are not a ${definition.partitioning.grain} of the definition`;
  return { partitions, problem };
}

/** None where the leaf has other bounds than a partition of the definition. */
function asPartition({ partitioning }: Definition, leaf: Leaf, columnType: ColumnType): Partition[] {
  const partition = partitionHolding(partitioning, leaf.lower);
  if (!partition) return [];
  const { lower, upper } = lowerAndUpper(partition, columnType);
  return leaf.lower === lower && leaf.upper === upper ? [partition] : [];
}

/** Keys of an earlier grain or zone may be in the ledger; they come first. */
function startOf({ partitioning }: Definition, key: string): string {
  try {
    return partitionOf(partitioning, key).start;
  } catch {
    return '';
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
