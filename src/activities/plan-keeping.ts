import type { Definition } from '../domain/definition.js';
import type { PlannedKeeping } from '../domain/plan.js';
import { printBytes } from '../domain/size.js';
import type { StoredPartition } from '../postgres/ledger/plans.js';
import type { Survey } from '../postgres/survey.js';

export interface KeepingPlan {
  readonly keep: PlannedKeeping | null;
  readonly refusals: readonly string[];
  readonly warnings: readonly string[];
}

/** What becomes of the rows that a plan replaces, and whether there is place for them. */
export function planKeeping(
  { keep }: Definition,
  found: Pick<Survey, 'keeping' | 'defaultName' | 'strategy'>,
  partitions: readonly StoredPartition[],
): KeepingPlan {
  if (keep === null) return { keep: null, refusals: [], warnings: [] };
  const replaced = partitions.filter(({ action }) => action === 'replace');
  const creates = partitions.some(({ action }) => action === 'create');
  // Rows of a partition that is created may lie in the default partition until then.
  const hasCopy = replaced.length > 0 || (creates && found.defaultName !== null);
  const known = replaced.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytes = replaced.length > 0 ? (found.keeping.rangeBytes ?? known) : 0;
  const { problem } = found.keeping;
  const cannot = hasCopy && problem !== null ? [problem] : [];
  const tooMuch = bytes > keep.atMostBytes ? [tooMuchText(bytes, keep.atMostBytes)] : [];
  // Of the rows that are compared only those that differ are kept.
  const isUpperBound = found.strategy.strategy === 'diff';
  return {
    keep: { forMs: keep.forMs, bytes, hasCopy },
    refusals: [...cannot, ...(isUpperBound ? [] : tooMuch)],
    warnings: isUpperBound
      ? tooMuch.map((text) => `${text}. Only rows that differ are kept, so it may be far less`)
      : [],
  };
}

function tooMuchText(bytes: number, atMost: number): string {
  return `To keep what is replaced takes about ${printBytes(bytes)}, and keepReplacedAtMost is ${printBytes(atMost)}: raise it, set keepReplaced: '0', or take a smaller range`;
}
