import type { Definition } from '../domain/definition.js';
import { type Grain, grainText, grains } from '../domain/grain.js';
import type { Obstacle } from '../domain/planning.js';
import { type Partition, partitionHolding } from '../domain/range.js';
import { printTableName } from '../domain/table-name.js';
import { type Leaf, lowerAndUpper } from './leaves.js';
import { type Cut, type Match, isPartitionOf } from './match-leaves.js';
import { newPartitionNames } from './new-partition.js';

/**
 * A partition is created among its like: not a day among months, nor a plain one among those that are partitioned
 * themselves. Those without a bound are nobody's like. Null where it may be created.
 */
export function whyNotCreated(
  { before, after }: Extract<Match, { kind: 'missing' }>,
  partition: Partition,
  definition: Definition,
  cut: Cut,
): Obstacle | null {
  const beside = [before, after].filter((leaf) => leaf !== undefined).filter(isBounded);
  const like = beside.filter((leaf) => isPartitionOf(leaf, cut));
  if (beside.length === 0 || like.some((leaf) => !leaf.isPartitioned)) return null;
  const [leaf] = like.length > 0 ? like : beside;
  if (!leaf) return null;
  const has = `${partition.key} has no partition in ${definition.name}`;
  if (like.length > 0) {
    const text = `${has}, and ${leaf.name} beside it is partitioned itself: create one that is cut as that`;
    return { about: leaf.name, text };
  }
  const remedy = statementFor(beside, partition, definition, cut);
  const text = `${has}, and ${leaf.name} beside it holds [${leaf.lower}, ${leaf.upper}), not ${grainText(cut.partitioning)}: create one as that is${remedy === undefined ? '' : `: ${remedy}`}`;
  return { about: remedy ?? leaf.name, text };
}

function isBounded({ lower, upper }: Leaf): boolean {
  return lower !== '-infinity' && upper !== 'infinity';
}

/** The partition to make, where those beside it are the units of a calendar. */
function statementFor(beside: readonly Leaf[], partition: Partition, { table }: Definition, cut: Cut) {
  const { column, timeZone } = cut.partitioning;
  const as = (grain: Grain) => ({ column, timeZone, grain });
  const grain = grains.find((one) => beside.some((leaf) => isPartitionOf(leaf, { ...cut, partitioning: as(one) })));
  const wanted = grain && partitionHolding(as(grain), partition.start);
  if (!wanted) return undefined;
  const { lower, upper } = lowerAndUpper(wanted, cut.columnType);
  const [name = ''] = newPartitionNames(table.name, wanted.key);
  return `create table ${printTableName({ ...table, name })} partition of ${printTableName(table)} for values from ('${lower}') to ('${upper}')`;
}
