import type { Partitioning } from './grain.js';

/** An open run, as a table shows it. */
export interface OpenRunOfTable {
  readonly planId: string;
  readonly workflowId: string;
  readonly from: string;
  readonly to: string;
  readonly requestedBy: string | null;
  readonly openedAt: string;
}

/** A definition of the worker, and what the database has of its table. */
export interface TableState {
  readonly name: string;
  readonly description: string | null;
  readonly owner: string | null;
  readonly partitioning: Partitioning;
  /** Of the definition, as the worker has it. */
  readonly digest: string;
  readonly exists: boolean;
  /** Why it cannot be backfilled as it is; null where it can. */
  readonly problem: string | null;
  /** Partitions with the definition's bounds. */
  readonly partitions: number;
  readonly firstKey: string | null;
  readonly lastKey: string | null;
  readonly counts: PartitionCounts;
  /** Oldest first, at most 20. */
  readonly openRuns: readonly OpenRunOfTable[];
}

/** What the ledger and the catalog say of one partition. Where more than one is true, the first of these counts. */
export const recordStates = ['failed', 'gone', 'provisional', 'outdated', 'current', 'unrecorded'] as const;

/**
 * `failed`: a run gave up on it, and none has written it since; `gone`: written, and its partition is no longer there;
 * `provisional`: written before it had ended; `outdated`: written by another build than today's; `current`: by today's;
 * `unrecorded`: this software never wrote it.
 */
export type RecordState = (typeof recordStates)[number];

/** Partitions by state. */
export type PartitionCounts = Readonly<Record<RecordState, number>>;

export interface PartitionRecord {
  readonly key: string;
  readonly state: RecordState;
  readonly generation: number;
  /** As recorded by the last replacement; null where there was none. */
  readonly rows: number | null;
  readonly replacedAt: string | null;
}

export interface TablesPage {
  readonly tables: readonly TableState[];
  /** What to ask for to get the next page; null at the end. */
  readonly next: number | null;
}

/** Oldest first. */
export interface PartitionsPage {
  readonly table: string;
  readonly partitions: readonly PartitionRecord[];
  /** The key after which the next page begins; null at the end. */
  readonly next: string | null;
}

export interface RecordFacts {
  readonly exists: boolean;
  readonly generation: number;
  readonly hasFailed: boolean;
  readonly isProvisional: boolean;
  readonly isOutdated: boolean;
}

/** Undefined where there is nothing to say of the partition. */
export function recordState(facts: RecordFacts): RecordState | undefined {
  if (facts.hasFailed) return 'failed';
  if (facts.generation === 0) return facts.exists ? 'unrecorded' : undefined;
  if (!facts.exists) return 'gone';
  if (facts.isProvisional) return 'provisional';
  return facts.isOutdated ? 'outdated' : 'current';
}

export function countStates(records: readonly Pick<PartitionRecord, 'state'>[]): PartitionCounts {
  const counts = { failed: 0, gone: 0, provisional: 0, outdated: 0, current: 0, unrecorded: 0 };
  for (const { state } of records) counts[state]++;
  return counts;
}
