import type { Definition } from '../domain/definition.js';
import type { BuildEstimate } from '../domain/plan.js';
import type { Partition } from '../domain/range.js';
import type { Tx } from './database.js';
import { type Target, inlineFor } from './target.js';
import { attempt } from './try-build.js';

/**
 * What PostgreSQL's planner expects of the build, for the first, the middle and the last of some partitions: rows, and
 * cost in its own unit (a page read in sequence is 1). Nothing is run.
 * @param source where the build runs
 */
export async function estimateBuild(
  source: Tx,
  { origin }: Definition,
  target: Omit<Target, 'partition'>,
  partitions: readonly Partition[],
): Promise<BuildEstimate[]> {
  if (origin.kind !== 'sql') return [];
  const { build } = origin;
  const places = new Set([0, Math.floor((partitions.length - 1) / 2), partitions.length - 1]);
  const estimates: BuildEstimate[] = [];
  for (const partition of partitions.filter((_, i) => places.has(i))) {
    const text = `explain (format json) ${inlineFor({ ...target, partition }, build)}\n`;
    const planned = await attempt(source, () => source.asUser(() => source.query<{ 'QUERY PLAN': Explained }>(text)));
    const top = typeof planned === 'string' ? undefined : planned.rows[0]?.['QUERY PLAN'][0]?.Plan;
    if (top) estimates.push({ key: partition.key, rows: top['Plan Rows'], cost: top['Total Cost'] });
  }
  return estimates;
}

type Explained = readonly { readonly Plan: { readonly 'Plan Rows': number; readonly 'Total Cost': number } }[];
