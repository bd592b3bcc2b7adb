import type { Partitioning } from './grain.js';
import type { KeptForm } from './keep.js';
import type { Decision, PartitionFacts } from './planning.js';

/** How a run puts back what another one replaced: part of its plan. */
export interface UndoFacts {
  /** Of the run that is undone. */
  readonly planId: string;
  readonly workflowId: string;
  /** By which the keys of that run are to be read. */
  readonly partitioning: Partitioning;
  /** The copy, in the ledger's schema; null where that run only created partitions. */
  readonly relation: string | null;
  /** Those of the copy; `type` where the table's is another one since, that holds every value. */
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
  /** Columns that the table numbers itself, whatever is given: written by an insert only. */
  readonly numbered: readonly string[];
  /** By which rows of one partition are told apart, with the operator of each; null where nothing asks. */
  readonly sameRow: { readonly columns: readonly string[]; readonly equals: readonly string[] } | null;
}

/** A replacement that is to be undone, and who wrote its partition last. */
export interface Undoable {
  readonly key: string;
  readonly generation: number;
  readonly rowsBefore: number;
  readonly kept: KeptForm | null;
  readonly newest: {
    readonly generation: number;
    readonly workflowId: string | null;
    readonly requestedBy: string | null;
    readonly committedAt: string | null;
    /** It put back what the run that is to be undone had replaced. */
    readonly isUndo: boolean;
  };
}

/** `refuse`: there is something to put back, and it may not, or cannot. */
export type UndoDecision = Decision | RefusedUndo;

export interface RefusedUndo {
  readonly action: 'refuse';
  readonly why: string;
  /** ISO 8601: when that came about, where it is known. */
  readonly at: string | null;
}

/** What is said of it once for all is said of its run. */
export const WHY_NOT_KEPT = 'what it held before is not kept';

const NOT_WRITTEN = 'that run did not write it';

/** What an undo does with one partition. @param undoable undefined where the run that is undone did not write it */
export function decideUndo(undoable: Undoable | undefined, { home }: Pick<PartitionFacts, 'home'>): UndoDecision {
  if (!undoable) return { action: 'leave', why: NOT_WRITTEN };
  const { generation, kept, newest, rowsBefore } = undoable;
  if (newest.generation !== generation) {
    return newest.isUndo
      ? { action: 'leave', why: 'was put back already' }
      : { action: 'refuse', why: `was written since by ${describeWriter(newest)}`, at: newest.committedAt };
  }
  if (kept === null) return { action: 'refuse', why: WHY_NOT_KEPT, at: null };
  if (home !== 'missing') return { action: 'replace' };
  if (kept === 'differences') {
    const why = 'its partition is gone, and of its rows only those that had changed are kept';
    return { action: 'refuse', why, at: null };
  }
  return rowsBefore > 0 ? { action: 'create' } : { action: 'leave', why: 'has no partition, as before that run' };
}

function describeWriter({ workflowId, requestedBy }: Undoable['newest']): string {
  const by = requestedBy === null ? '' : `, started by ${requestedBy}`;
  return `${workflowId ?? 'a run that is not known any more'}${by}`;
}

/** Partitions that a refusal names. */
const MOST_NAMED = 20;

/** One sentence for each reason, with its keys, and when it came about. */
export function describeRefused(refused: readonly (RefusedUndo & { readonly key: string })[]): string[] {
  const byWhy = new Map<string, (RefusedUndo & { readonly key: string })[]>();
  for (const one of refused) byWhy.set(one.why, [...(byWhy.get(one.why) ?? []), one]);
  return [...byWhy].map(([why, all]) => {
    const keys = all.map(({ key }) => key);
    const named = keys.slice(0, MOST_NAMED).join(', ');
    const more = keys.length > MOST_NAMED ? ` and ${keys.length - MOST_NAMED} more` : '';
    const times = all.flatMap(({ at }) => at ?? []).sort();
    const [first, last] = [times[0], times.at(-1)];
    if (first === undefined) return `${named}${more}: ${why}`;
    const when = first === last ? `at ${first}` : `from ${first} to ${last}`;
    return `${named}${more}: ${why}, ${when}; undo that first, or leave it out (request.from, request.to)`;
  });
}
