import type { Definition } from '../../domain/definition.js';
import type { Database, Tx } from '../database.js';
import type { Target } from '../target.js';

/** What brings rows to a replacement needs to know of it. */
export interface Bringing {
  readonly definition: Definition;
  /** The other databases that definitions name. */
  readonly sources: ReadonlyMap<string, Database>;
  /** Shown in the source's pg_stat_activity, as in the table's. */
  readonly applicationName: string;
  readonly signal: AbortSignal | undefined;
}

/** Fills the staged rows with those of one partition; returns how many. SQL of the definition finds its names there. */
export type RowSource = (tx: Tx, target: Target) => Promise<number>;
