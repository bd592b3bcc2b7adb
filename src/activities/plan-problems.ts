import type { Definition } from '../domain/definition.js';
import { type Decision, NOT_BEGUN, NOT_ENDED } from '../domain/planning.js';
import type { RunOptions } from '../domain/request.js';
import type { StoredPartition } from '../postgres/ledger/plans.js';
import type { Survey } from '../postgres/survey.js';

/** Obstacles that are told, one a month or a partition. */
const MOST_OBSTACLES = 20;

/** What keeps partitions from being written that would be, each obstacle once. */
export function obstacles(found: Survey, decisions: readonly Decision[]): string[] {
  const texts = new Map<string, string>();
  found.partitions.forEach(({ obstacle }, i) => {
    if (obstacle && decisions[i]?.action !== 'leave' && !texts.has(obstacle.about))
      texts.set(obstacle.about, obstacle.text);
  });
  const more = texts.size - MOST_OBSTACLES;
  return [...[...texts.values()].slice(0, MOST_OBSTACLES), ...(more > 0 ? [`and ${more} more of this kind`] : [])];
}

/** What a cumulative table cannot be asked for. */
export function optionProblems({ name, cumulative }: Definition, { concurrency, onFailure }: RunOptions): string[] {
  if (!cumulative) return [];
  return [
    ...(concurrency > 1
      ? [`${name} is cumulative: its partitions go one at a time (request.concurrency is ${concurrency})`]
      : []),
    ...(onFailure === 'continue'
      ? [`${name} is cumulative: nothing can go on after a failed partition (request.onFailure)`]
      : []),
  ];
}

/** A range of which nothing has ended is most likely a mistake; one whose partitions need no work is not. */
export function calendarProblems(partitions: readonly StoredPartition[]): string[] {
  const isEarly = partitions.every(({ why }) => why === NOT_BEGUN || why === NOT_ENDED);
  if (!isEarly || partitions.length === 0) return [];
  const unfinished = partitions.find(({ why }) => why === NOT_ENDED)?.key;
  return [
    unfinished === undefined
      ? 'Every partition of the range is in the future (request.from)'
      : `${unfinished} has not ended yet; set allowIncomplete to write it all the same (request.allowIncomplete)`,
  ];
}
