import type { Partitioning } from './grain.js';

/** What a definition says of the rows that its runs replace. */
export interface KeepReplaced {
  /** Milliseconds, from the last replacement of a run on. */
  readonly forMs: number;
  /** What the copy of one run may take. */
  readonly atMostBytes: number;
}

/** How a replacement's old rows are kept: all of them, or those in which old and new differ. */
export type KeptForm = 'rows' | 'differences';

/** Columns of a copy that are not the table's. */
export interface CopyColumns {
  /** The partition's key, text. */
  readonly key: string;
  /** Boolean: a new row, to be taken away by an undo; else an old one, to be put back. */
  readonly isNew: string;
}

/** Names that none of the table's columns has. @param columns those of the table that the copy has */
export function copyColumns(columns: readonly string[]): CopyColumns {
  const unused = (name: string): string => (columns.includes(name) ? unused(`${name}_`) : name);
  return { key: unused('backfill_key'), isNew: unused('backfill_is_new') };
}

/** Of the table, never of its name: that may take all the bytes that a name has. */
export function copyName(planId: string): string {
  return `kept_${planId.replaceAll('-', '').toLowerCase()}`;
}

/** Whether two definitions mean the same rows by the same keys. */
export function samePartitioning(a: Partitioning, b: Partitioning): boolean {
  const text = ({ column, grain, timeZone, every = 1, anchor, as }: Partitioning) =>
    JSON.stringify([column, grain, timeZone, every, anchor ?? null, as ?? null]);
  return text(a) === text(b);
}
