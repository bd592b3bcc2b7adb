/** What to delete from the ledger: what is older than a span, or than a moment. */
export type PruneRequest = ({ readonly olderThan: string } | { /** ISO 8601 */ readonly before: string }) & {
  /** Count, and delete nothing. */
  readonly dryRun?: boolean;
};

/** Rows of the ledger, by kind. */
export interface PruneCounts {
  readonly plans: number;
  readonly planPartitions: number;
  readonly runs: number;
  readonly replacements: number;
  readonly failures: number;
}

export interface PruneResult {
  /** ISO 8601: everything counted is older. */
  readonly before: string;
  readonly dryRun: boolean;
  /** What was deleted; in a dry run, what would be. */
  readonly counts: PruneCounts;
}

export const NOTHING_PRUNED: PruneCounts = { plans: 0, planPartitions: 0, runs: 0, replacements: 0, failures: 0 };

export function addPruned(a: PruneCounts, b: PruneCounts): PruneCounts {
  return {
    plans: a.plans + b.plans,
    planPartitions: a.planPartitions + b.planPartitions,
    runs: a.runs + b.runs,
    replacements: a.replacements + b.replacements,
    failures: a.failures + b.failures,
  };
}

export function totalPruned({ plans, planPartitions, runs, replacements, failures }: PruneCounts): number {
  return plans + planPartitions + runs + replacements + failures;
}
