import { setImmediate } from 'node:timers/promises';
import { chunksOf } from '../domain/chunks.js';

const AT_ONCE = 5_000;

/**
 * Maps a long list in parts. Between them the process beats for its activities, whose heartbeat is missed after five
 * seconds, and hears of cancels and queries.
 */
export async function mapInTurns<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = [];
  for (const chunk of chunksOf(items, AT_ONCE)) {
    for (const item of chunk) mapped.push(map(item));
    await setImmediate();
  }
  return mapped;
}
