import type { Plan } from '../domain/plan.js';
import { printSeconds } from '../domain/progress.js';
import { countOf, printCount, printTime } from './figures.js';
import { listUnder, wrap } from './text.js';

/** Ranges that are shown of one run. */
const MOST_RANGES = 20;

/** Of the first page: a person looks for a name that should not be there. */
export function lastWritten({ lastWrites }: Plan): string[] {
  const lines = lastWrites.map(({ workflowId, at, ranges }) => {
    const who = workflowId === null || at === null ? 'unknown, not this software' : `${workflowId}, ${printTime(at)}`;
    const more = ranges.length > MOST_RANGES ? ` and ${printCount(ranges.length - MOST_RANGES)} more` : '';
    return `${ranges.slice(0, MOST_RANGES).join(', ')}${more}: ${who}`;
  });
  return listUnder('Last written by:', lines);
}

/** Whom it concerns. */
export function impact({ impact: dependents }: Plan): string[] {
  const lines = dependents.map(({ kind, name, reason, owner, url }) => {
    const who = owner === null ? kind : `${kind}, ${owner}`;
    return `${name} (${who}): ${reason}${url === null ? '' : `, ${url}`}`;
  });
  return listUnder('Depends on this table:', lines);
}

/** By earlier partitions, side by side as the plan has it. */
export function timeNeeded({ earlier, counts, options: { concurrency } }: Plan): string {
  if (!earlier) return 'unknown: no partition of this table was written before';
  const { count, medianMs } = earlier;
  const ms = Math.ceil((counts.create + counts.replace) / concurrency) * medianMs;
  return `about ${printSeconds(ms / 1000)}, by the median of the last ${countOf(count, 'partition')}`;
}

/** What PostgreSQL thinks that the build of some partitions is. */
export function estimates({ estimates: found }: Plan): string[] {
  if (found.length === 0) return [];
  const texts = found.map(({ key, rows, cost }) => `${key} ${countOf(rows, 'row')} (cost ${printCount(cost)})`);
  return ['', ...wrap(`PostgreSQL expects of it: ${texts.join(', ')}`)];
}
