import type { Partition } from './range.js';
import { completeness } from './range.js';
import type { RunOptions } from './request.js';

/** What is known of one partition when a plan is made. */
export interface PartitionFacts {
  readonly key: string;
  /** Where its rows lie: in partitions of the table, in none yet, or, where those go by something else, in the table. */
  readonly home: 'partitions' | 'missing' | 'table';
  /** Its partition in the catalog. One that holds more than this key counts for its share; of several no oid is known. */
  readonly leaf: {
    readonly oid: number | null;
    readonly fileNode: number | null;
    readonly rowsAbout: number | null;
    readonly bytes: number;
  } | null;
  /** Why it cannot be written as the table is now. */
  readonly obstacle: Obstacle | null;
  /** Whether it has no row; null where nobody asked. */
  readonly isEmpty: boolean | null;
  /** The ledger's words. */
  readonly generation: number;
  readonly rowsRecorded: number | null;
  readonly buildDigest: string | null;
  readonly isProvisional: boolean;
  readonly hasFailed: boolean;
}

export interface Obstacle {
  /** What stands in the way: many partitions may meet the same. */
  readonly about: string;
  readonly text: string;
}

export type Decision = { readonly action: 'create' | 'replace' } | { readonly action: 'leave'; readonly why: string };

/** The reasons for which a partition is left alone because of the calendar. */
export const NOT_BEGUN = 'in the future';
export const NOT_ENDED = 'has not ended yet; allowIncomplete would write it';

export interface PlanningContext {
  readonly options: RunOptions;
  readonly buildDigest: string;
  readonly now: Date;
}

/** What a run will do with one partition of its range: the one rule, by which plans are made and shown. */
export function decide(
  partition: Partition,
  facts: PartitionFacts,
  { options, buildDigest, now }: PlanningContext,
): Decision {
  const ended = completeness(partition, now);
  if (ended === 'future') return { action: 'leave', why: NOT_BEGUN };
  if (options.exclude.includes(partition.key)) return { action: 'leave', why: 'excluded by the request' };
  if (ended === 'unfinished' && !options.allowIncomplete) return { action: 'leave', why: NOT_ENDED };
  const why = whyNotSelected(facts, options.select, buildDigest);
  if (why !== undefined) return { action: 'leave', why };
  return { action: actionOn(facts) };
}

export function actionOn({ home }: Pick<PartitionFacts, 'home'>): 'create' | 'replace' {
  return home === 'missing' ? 'create' : 'replace';
}

/** In a table without partitions for it, a key that has no row is missing. */
function isMissing({ home, isEmpty }: PartitionFacts): boolean {
  return home === 'missing' || (home === 'table' && isEmpty === true);
}

/** Undefined where the partition is selected. A partition written before it had ended is never up to date. */
function whyNotSelected(facts: PartitionFacts, select: RunOptions['select'], buildDigest: string): string | undefined {
  switch (select) {
    case 'all':
      return undefined;
    case 'missing':
      if (isMissing(facts)) return undefined;
      return facts.isEmpty ? 'exists and is empty; select "missing-or-empty" would write it' : 'exists';
    case 'missing-or-empty':
      if (facts.home === 'missing') return undefined;
      if (!facts.isEmpty) return 'has rows';
      // What an undo has emptied was built by nothing.
      return facts.rowsRecorded === 0 && facts.buildDigest !== null ? 'is empty, as a run recorded' : undefined;
    case 'failed':
      return facts.hasFailed ? undefined : 'did not fail';
    case 'outdated':
      return facts.buildDigest === buildDigest && !facts.isProvisional ? 'was built by this build' : undefined;
    default:
      return select satisfies never;
  }
}
