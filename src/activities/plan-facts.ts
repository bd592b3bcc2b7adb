import type { Definition } from '../domain/definition.js';
import { grainText } from '../domain/grain.js';
import { dedent, printSql } from '../domain/sql-template.js';
import type { NewPlan, StoredPartition } from '../postgres/ledger/plans.js';
import type { Survey } from '../postgres/survey.js';

/** What a plan shows beside its partitions, as far as definition and survey tell it. */
export function shownFacts(
  definition: Definition,
  found: Survey,
  partitions: readonly StoredPartition[],
  widened: string | null,
): Omit<NewPlan['facts'], 'impact' | 'estimates' | 'earlier' | 'keep' | 'undo'> {
  const count = (action: StoredPartition['action']) =>
    partitions.filter((partition) => partition.action === action).length;
  const counts = { create: count('create'), replace: count('replace'), leave: count('leave') };
  return {
    grain: grainText(definition.partitioning),
    timeZone: definition.partitioning.timeZone,
    buildSql: shownBuild(definition),
    source: definition.origin.kind === 'sql' ? definition.origin.source : null,
    strategy: found.strategy.strategy,
    strategyWhy: found.strategy.why,
    whenEmpty: definition.whenEmpty,
    checks: definition.checks.map(({ name }) => name),
    counts,
    warnings: [...(widened === null ? [] : [widened]), ...warnings(definition, found, partitions, counts.create)],
  };
}

function shownBuild({ origin }: Definition): string {
  if (origin.kind === 'sql') return dedent(printSql(origin.build));
  return `-- Rows come from code of the definition, version ${origin.version}`;
}

function warnings(
  definition: Definition,
  found: Survey,
  partitions: readonly StoredPartition[],
  created: number,
): string[] {
  const writes = partitions.filter(({ action }) => action !== 'leave');
  const provisional = writes.filter((partition) => partition.provisional).map(({ key }) => key);
  return [
    ...found.warnings,
    ...(definition.cumulative && found.laterPartitions > 0 && writes.length > 0
      ? [
          `${found.laterPartitions} later partitions were built on the old rows; run on to the newest one to bring them in line`,
        ]
      : []),
    ...(provisional.length > 0
      ? [`Has not ended yet, and will be recorded as provisional: ${provisional.join(', ')}`]
      : []),
    ...(found.rowTriggers.length > 0 && writes.length > 0
      ? [`Triggers fire for every row that is deleted or inserted: ${found.rowTriggers.join(', ')}`]
      : []),
    ...(created > 0 && found.defaultName !== null
      ? [
          `Creating partitions locks the default partition ${found.defaultName} for ${found.rowTriggers.length > 0 ? 'as long as each is built, because triggers fire for its rows' : 'the moment of attaching each'}`,
        ]
      : []),
  ];
}
