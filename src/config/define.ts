import sqlTag, { type Sql } from 'sql-template-tag';
import type { BoundMarker, RowsMarker, Scalar } from '../domain/sql-template.js';
import type { BuildArguments } from './arguments.js';
import type { RowsOf } from '../domain/origin.js';
import type { Partitioning } from '../domain/grain.js';
import type { WantedStrategy } from '../domain/strategy.js';
import type { CheckInput } from './checks.js';
import type { RowSchema } from './row-schema.js';

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
  /**
   * One query that gives the rows of one partition, with columns named as the table's. Called once, when it is loaded.
   * Either this or `rows`.
   */
  readonly build?: (bounds: BuildArguments) => Sql;
  /** The name of the database, among the config's `sources`, in which `build` runs. Default: that of the table. */
  readonly source?: string;
  /**
   * Code that gives the rows of one partition, as objects with a field for each column: called with the bounds as text,
   * for each partition. It is asked for rows as fast as PostgreSQL takes them. `undefined` is no value; `null` is.
   */
  readonly rows?: RowsOf;
  /** Of the code in `rows`: change it when the rows would change, so that built partitions count as outdated. */
  readonly version?: string;
  /** Columns that each of `rows` has. Default: the fields of `row`, else all that the table does not fill by itself. */
  readonly columns?: readonly string[];
  /** A schema (zod's, or another Standard Schema) that each of `rows` must meet. */
  readonly row?: RowSchema;
  readonly checks?: readonly CheckInput[];
  /** What people read that shows this table, beyond the views that the catalog knows: plans list it. `url`: http or https. */
  readonly reports?: readonly { readonly name: string; readonly owner?: string; readonly url?: string }[];
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
  /**
   * How long the rows that a run replaces are kept, so that `backfill undo` can put them back: a span, from the run's last
   * replacement on. Default `7 days`; `0`: they are not kept.
   */
  readonly keepReplaced?: string;
  /** What they may take at most, a run: a size. Default `10 GB`; a plan that would need more is refused. */
  readonly keepReplacedAtMost?: string;
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
  /** Other PostgreSQL databases, by a name, in which builds may run. A worker needs the URLs of those that its tables name. */
  readonly sources?: Readonly<Record<string, { readonly url?: string | undefined }>>;
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
