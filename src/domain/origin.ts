import type { BoundValues, SqlTemplate } from './sql-template.js';

/** Where the rows of a partition come from. */
export type Origin = SqlOrigin | CodeOrigin;

/** One query. */
export interface SqlOrigin {
  readonly kind: 'sql';
  readonly build: SqlTemplate;
  /** Name of the database that is asked; null for the table's own. */
  readonly source: string | null;
  /**
   * Its rows were in the table before, and it gives every column: also those that the table numbers itself (generated
   * always as identity), which are these. Null for a build of a definition.
   */
  readonly restores: readonly string[] | null;
}

/** A generator in the worker's process. */
export interface CodeOrigin {
  readonly kind: 'code';
  readonly rows: RowsOf;
  /** What stands for the code in the build digest. */
  readonly version: string;
  /** Columns that every row has; null for all that the table does not fill by itself. */
  readonly columns: readonly string[] | null;
  /** Looks at a row and gives it back, perhaps in another form; throws where it is no such row. */
  readonly parse: (row: unknown) => unknown;
}

/** Rows are plain objects with a field for each column. The signal is aborted by a cancel, a timeout, a worker that stops. */
export type RowsOf = (partition: BoundValues, signal: AbortSignal) => AsyncIterable<unknown> | Iterable<unknown>;

/** Where rows come from the table's own database, they are inserted as they are built; else they are brought there first. */
export function isForeign(origin: Origin): boolean {
  return origin.kind === 'code' || origin.source !== null;
}
