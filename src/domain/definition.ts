import type { Check } from './check.js';
import type { Partitioning } from './grain.js';
import type { Report } from './impact.js';
import type { KeepReplaced } from './keep.js';
import type { Origin } from './origin.js';
import type { WantedStrategy } from './strategy.js';
import type { TableName } from './table-name.js';

/** A definition as the worker uses it: checked, compiled, every default filled in. */
export interface Definition {
  readonly table: TableName;
  /** Canonical spelling of the table's name. */
  readonly name: string;
  readonly description: string | null;
  readonly owner: string | null;
  readonly partitioning: Partitioning;
  /** Canonical names of the tables that the build reads, as declared. */
  readonly reads: readonly string[];
  readonly origin: Origin;
  /** What people read that shows this table, as declared. */
  readonly reports: readonly Report[];
  readonly checks: readonly Check[];
  /** The build reads this very table before `start`: partitions go one at a time, oldest first. */
  readonly cumulative: boolean;
  /** How rows are written where the partition is there already. */
  readonly strategy: WantedStrategy;
  /** What a build without rows means: a failure that keeps the old rows, or an empty partition. */
  readonly whenEmpty: 'fail' | 'empty';
  /** Null: the role's own. */
  readonly searchPath: readonly string[] | null;
  readonly timeouts: Timeouts;
  /** What becomes of the rows that a run replaces; null: they are not kept. A plan freezes it, so it is no part of the digest. */
  readonly keep: KeepReplaced | null;
  /** Whether failures may show the values of rows, beyond those of keys. */
  readonly showValues: boolean;
  /** Over everything that decides which rows a partition gets and whether they are accepted. SHA-256, hex. */
  readonly digest: string;
}

/** All in milliseconds. */
export interface Timeouts {
  /** One attempt at one partition: the server's statement_timeout and Temporal's start-to-close timeout. */
  readonly attemptMs: number;
  /** One partition, retries and waits between them included. */
  readonly partitionMs: number;
  /** Waiting for one lock. */
  readonly lockMs: number;
}
