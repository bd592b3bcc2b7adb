import type { Dependent } from './impact.js';
import type { Strategy } from './strategy.js';
import type { RunOptions } from './request.js';

/** A partition that the run will write. */
export interface PlannedPartition {
  /** Position in the plan, from 1, oldest first. */
  readonly seq: number;
  readonly key: string;
  readonly action: 'create' | 'replace';
  /** Rows now: the planner's estimate, null where the partition was never analyzed or does not exist. */
  readonly rowsAbout: number | null;
  /** Bytes on disk now, indexes included. */
  readonly bytes: number;
  /** How often this software wrote it; 0 for never. */
  readonly generation: number;
}

/** Partitions of a page and the run that wrote them last, as the ledger knows; nulls for those it never wrote. */
export interface LastWrites {
  readonly planId: string | null;
  readonly workflowId: string | null;
  /** When the last of them was committed. ISO 8601. */
  readonly at: string | null;
  /** `2026-03-01..2026-03-14`, or a key alone. */
  readonly ranges: readonly string[];
}

/** What PostgreSQL expects of the build of one partition. */
export interface BuildEstimate {
  readonly key: string;
  readonly rows: number;
  /** In the unit of PostgreSQL's planner. */
  readonly cost: number;
}

/** A partition of the range that the run will not touch. */
export interface LeftAlone {
  readonly key: string;
  readonly why: string;
}

/** What becomes of the rows that a run replaces. */
export interface PlannedKeeping {
  /** Milliseconds, from the last replacement on. */
  readonly forMs: number;
  /** What the partitions to be replaced take now: about as much as their copy, and more than it where few rows change. */
  readonly bytes: number;
  /** There is something to copy: a partition is replaced, or rows of one that is created may lie in a default one. */
  readonly hasCopy: boolean;
}

/** A stored plan, as shown before anything is written. */
export interface Plan {
  readonly planId: string;
  /** Canonical spelling, for example `mart.daily_revenue`. */
  readonly table: string;
  /** Keys, both included. */
  readonly from: string;
  readonly to: string;
  readonly grain: string;
  readonly timeZone: string;
  readonly options: RunOptions;
  /** Over partitions, definition, options, the table's shape, and each partition's generation, oid and file node. */
  readonly digest: string;
  readonly definitionDigest: string;
  readonly buildDigest: string;
  readonly buildSql: string;
  /** The other database in which the build runs; null for the table's own. */
  readonly source: string | null;
  readonly strategy: Strategy;
  /** Why it was chosen; null where the definition names it. */
  readonly strategyWhy: string | null;
  readonly whenEmpty: 'fail' | 'empty';
  readonly checks: readonly string[];
  /** Of the first, the middle and the last partition; none for rows that come from code. */
  readonly estimates: readonly BuildEstimate[];
  /** How long partitions of this table took, by those that were written last; null where none was. */
  readonly earlier: { readonly count: number; readonly medianMs: number } | null;
  /** What depends on the table, nearest first; reports last. At most 200 are named. */
  readonly impact: readonly Dependent[];
  readonly counts: { readonly create: number; readonly replace: number; readonly leave: number };
  /** What a reader should know before agreeing. */
  readonly warnings: readonly string[];
  /** Reasons for which this plan would be refused. Empty for one that can run. */
  readonly refusals: readonly string[];
  /** A page of what will be written, oldest first. */
  readonly partitions: readonly PlannedPartition[];
  /** By whom the partitions of this page were written last. */
  readonly lastWrites: readonly LastWrites[];
  /** A page of what is left alone. */
  readonly leftAlone: readonly LeftAlone[];
  /** The plan whose unfinished partitions this one takes over, and how many of its own it keeps. */
  readonly replaces: { readonly planId: string; readonly keysKept: readonly string[] } | null;
  /** What becomes of the rows that are replaced; null: they are not kept. */
  readonly keep: PlannedKeeping | null;
  /** The run whose replacements this plan undoes; null for one that builds. */
  readonly undoes: { readonly planId: string; readonly workflowId: string } | null;
  readonly createdAt: string;
  readonly requestedBy: string | null;
  readonly reason: string | null;
}

/** A page of a plan, as a run works on it. */
export interface WorkPage {
  /** Oldest first. `isDone`: written under this plan by an earlier execution. */
  readonly partitions: readonly { readonly seq: number; readonly key: string; readonly isDone: boolean }[];
  readonly hasMore: boolean;
}
