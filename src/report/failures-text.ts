import type { FailureRecord } from '../domain/history.js';
import { causeFacts } from './outcome-text.js';
import { countOf, printTime } from './figures.js';
import { facts, wrap } from './text.js';

/** Every failed partition with all that is known of its failure. */
export function failuresLines(failures: readonly FailureRecord[]): string[] {
  if (failures.length === 0) return ['No partition has failed that was not written since.'];
  return [`${countOf(failures.length, 'failed partition')}:`, ...failures.flatMap(failureLines)];
}

function failureLines({ key, at, attempt, ...info }: FailureRecord): string[] {
  return [
    '',
    ...wrap(`${key}: ${info.message}`),
    ...facts([...causeFacts(info), ['attempt', `${attempt}, ${printTime(at)}`]]),
  ];
}
