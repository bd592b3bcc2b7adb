/** What a plan was computed from, partition by partition: the part of its digest that the catalog and the ledger give. */
export interface PlannedState {
  readonly key: string;
  readonly action: 'create' | 'replace';
  readonly generation: number;
  readonly leafOid: number | null;
  readonly leafFileNode: number | null;
}

export interface PlanBasis {
  readonly definitionDigest: string;
  readonly buildDigest: string;
  readonly shape: string;
  readonly partitions: readonly PlannedState[];
}

/** What has changed between the plan and now, a sentence each; empty where the plan still holds. */
export function findDrift(planned: PlanBasis, now: PlanBasis): string[] {
  const current = new Map(now.partitions.map((partition) => [partition.key, partition]));
  return [
    ...(planned.definitionDigest === now.definitionDigest ? [] : ['the definition of the table']),
    // The definition's digest covers the build's own text: what is left are views and functions.
    ...(planned.definitionDigest !== now.definitionDigest || planned.buildDigest === now.buildDigest
      ? []
      : ['a view or function that the build uses']),
    ...(planned.shape === now.shape ? [] : shapeDrift(planned.shape, now.shape)),
    ...planned.partitions.flatMap((partition) => partitionDrift(partition, current.get(partition.key))),
  ];
}

function shapeDrift(planned: string, now: string): string[] {
  const before = new Set(planned.split('\n'));
  const after = new Set(now.split('\n'));
  const gone = [...before].filter((line) => !after.has(line)).map((line) => `no longer: ${line}`);
  const added = [...after].filter((line) => !before.has(line)).map((line) => `new: ${line}`);
  return [`the table itself (${[...gone, ...added].join('; ')})`];
}

function partitionDrift(planned: PlannedState, now: PlannedState | undefined): string[] {
  const { key } = planned;
  if (!now) return [`${key}: is no partition any more`];
  if (planned.generation !== now.generation)
    return [`${key}: written since (generation ${planned.generation} → ${now.generation})`];
  if (planned.action !== now.action)
    return [now.action === 'replace' ? `${key}: has a partition now` : `${key}: its partition is gone`];
  if (planned.leafOid === now.leafOid && planned.leafFileNode === now.leafFileNode) return [];
  return [`${key}: its partition is another table, or was rewritten`];
}
