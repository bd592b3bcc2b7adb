import type { Partitioning } from '../domain/grain.js';
import { type Partition, partitionHolding } from '../domain/range.js';
import type { ColumnType } from '../domain/sql-template.js';
import type { Leaf } from './leaves.js';
import { isBefore, positionsOf, timeOf } from './positions.js';

interface Bounds {
  readonly lower: string;
  readonly upper: string;
}

/** What the catalog has for one wanted partition. */
export type Match =
  | { readonly kind: 'exact'; readonly leaf: Leaf }
  /** A larger one holds it whole. */
  | { readonly kind: 'within'; readonly leaf: Leaf }
  /** Several hold it together. */
  | { readonly kind: 'tiled'; readonly leaves: readonly Leaf[] }
  /** A part of it has no partition. */
  | { readonly kind: 'partly'; readonly gap: Bounds }
  /** A bound of the leaf cuts a day, or an hour, of the definition: it was made for another zone. */
  | { readonly kind: 'cut'; readonly leaf: Leaf }
  | { readonly kind: 'missing'; readonly before: Leaf | undefined; readonly after: Leaf | undefined };

/** The column of a table, and how the definition cuts it. */
export interface Cut {
  readonly partitioning: Partitioning;
  readonly columnType: ColumnType;
}

/** Finds the leaves of each wanted partition, by their bounds alone. @param leaves by lower bound */
export function matchLeaves(leaves: readonly Leaf[], wanted: readonly Partition[], cut: Cut): Match[] {
  const uppers = leaves.map(({ upper }) => timeOf(upper));
  const isWhole = wholeness(cut);
  return wanted.map((partition) => {
    const bounds = positionsOf(partition, cut.columnType);
    const first = firstAbove(uppers, timeOf(bounds.lower));
    const overlapping: Leaf[] = [];
    for (let i = first; i < leaves.length; i++) {
      const leaf = leaves[i];
      if (!leaf || !isBefore(leaf.lower, bounds.upper)) break;
      overlapping.push(leaf);
    }
    if (overlapping.length === 0) return { kind: 'missing', before: leaves[first - 1], after: leaves[first] };
    return matchOverlapping(overlapping, bounds, isWhole);
  });
}

/** Whether a leaf is what a definition would make of one of its partitions. */
export function isPartitionOf(leaf: Leaf, { partitioning, columnType }: Cut): boolean {
  const partition = partitionHolding(partitioning, leaf.lower);
  const bounds = partition && positionsOf(partition, columnType);
  return bounds?.lower === leaf.lower && bounds.upper === leaf.upper;
}

function matchOverlapping(leaves: readonly Leaf[], bounds: Bounds, isWhole: (leaf: Leaf) => boolean): Match {
  const [leaf] = leaves;
  if (leaf && leaf.lower === bounds.lower && leaf.upper === bounds.upper) return { kind: 'exact', leaf };
  const reachesOut = (one: Leaf) => isBefore(one.lower, bounds.lower) || isBefore(bounds.upper, one.upper);
  const other = leaves.find((one) => reachesOut(one) && !isWhole(one));
  if (other) return { kind: 'cut', leaf: other };
  const gap = gapIn(leaves, bounds);
  if (gap) return { kind: 'partly', gap };
  return leaf && leaves.length === 1 ? { kind: 'within', leaf } : { kind: 'tiled', leaves };
}

function gapIn(leaves: readonly Leaf[], { lower, upper }: Bounds): Bounds | undefined {
  let covered = lower;
  for (const leaf of leaves) {
    if (isBefore(covered, leaf.lower)) return { lower: covered, upper: leaf.lower };
    covered = leaf.upper;
  }
  return isBefore(covered, upper) ? { lower: covered, upper } : undefined;
}

/** Whether a leaf begins and ends with a day of the definition's zone, or with an hour where it counts hours. */
function wholeness({ partitioning, columnType }: Cut): (leaf: Leaf) => boolean {
  const { column, timeZone, grain } = partitioning;
  const unit = { column, timeZone, grain: grain === 'hour' ? 'hour' : 'day' } as const;
  const isBoundary = (position: string): boolean => {
    if (position.endsWith('infinity')) return true;
    const holding = partitionHolding(unit, position);
    return holding !== undefined && positionsOf(holding, columnType).lower === position;
  };
  const known = new Map<number, boolean>();
  return (leaf) => {
    const is = known.get(leaf.oid) ?? (isBoundary(leaf.lower) && isBoundary(leaf.upper));
    known.set(leaf.oid, is);
    return is;
  };
}

/** The first place whose number is greater; numbers ascend. With 100,000 partitions, looking at each takes minutes. */
function firstAbove(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? Infinity) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
