import type { SqlTemplate } from './sql-template.js';

/** A rule that the new rows of a partition must meet before they are published. Each has a name that failures cite. */
export type Check =
  | { readonly kind: 'notNull'; readonly name: string; readonly columns: readonly string[] }
  | { readonly kind: 'unique'; readonly name: string; readonly columns: readonly string[] }
  | { readonly kind: 'rowCount'; readonly name: string; readonly min: number; readonly max: number | null }
  /** A condition in SQL over one row; null counts as not met. */
  | { readonly kind: 'everyRow'; readonly name: string; readonly condition: string }
  /** A query over the relation `new_rows` that must return no row. */
  | { readonly kind: 'noRows'; readonly name: string; readonly query: SqlTemplate };
