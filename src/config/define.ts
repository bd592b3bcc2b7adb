import sqlTag, { type Sql } from 'sql-template-tag';
import type { BoundMarker, RowsMarker, Scalar } from '../domain/sql-template.js';
import type { BuildArguments } from './arguments.js';
import type { Partitioning } from '../domain/grain.js';
import type { WantedStrategy } from '../domain/strategy.js';
import type { CheckInput } from './checks.js';

/** What may stand in `${…}` of a build or a check. */
export type SqlValue = Sql | BoundMarker | RowsMarker | Scalar;

/** Writes SQL. Values become bound parameters; another `sql` text is put in as text. */
export function sql(strings: TemplateStringsArray, ...values: SqlValue[]): Sql {
  return sqlTag(strings, ...values);
}

/** A table that can be backfilled. */
export interface TableInput {
  /** `schema.table`; parts quoted as in SQL where needed. */
  readonly name: string;
  readonly description?: string;
  readonly owner?: string;
  readonly partitionBy: Partitioning;
  /** The tables that the build reads. */
  readonly reads?: readonly string[];
  /** One query that gives the rows of one partition, with columns named as the table's. Called once, when it is loaded. */
  readonly build: (bounds: BuildArguments) => Sql;
  readonly checks?: readonly CheckInput[];
  /** The build reads earlier partitions of this same table. */
  readonly cumulative?: boolean;
  /**
   * `delete-insert` (default) writes every row anew. `diff` writes only rows that differ, told apart by a unique key of the
   * table. `auto` decides for each plan, and the plan says why.
   */
  readonly strategy?: WantedStrategy;
  /** Default `fail`: a build without rows keeps the old partition and says so. */
  readonly whenEmpty?: 'fail' | 'empty';
  /** Schemas in which the build finds unqualified names. Default: the database role's. */
  readonly searchPath?: readonly string[];
  /** Failures show whole rows, in history, ledger and log. Default: the values of key columns alone. */
  readonly showValues?: boolean;
  /** `attempt` (1 hour): one try; `partition` (6 hours): retries included; `lock` (5 seconds): one lock. */
  readonly timeouts?: { readonly attempt?: string; readonly partition?: string; readonly lock?: string };
}

export interface ConfigInput {
  readonly database?: {
    /** Unset: `DATABASE_URL`, or the embedded stack of `backfill dev`. */
    readonly url?: string | undefined;
    /** Default `backfill`. `BACKFILL_LEDGER_SCHEMA` comes first. */
    readonly ledgerSchema?: string | undefined;
  };
  readonly worker?: {
    /** Connections, and partitions at once, of one worker: 10 by default. `BACKFILL_POOL_SIZE` comes first. */
    readonly poolSize?: number | undefined;
  };
  readonly tables: readonly TableInput[];
}

/** For the editor's help only: what it is given is checked when the worker loads it. */
export function defineTable(table: TableInput): TableInput {
  return table;
}

export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
