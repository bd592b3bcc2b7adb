import { type Progress, calendarLines, printRate, printSeconds } from '../domain/progress.js';
import { printCount } from './figures.js';
import { WIDTH, facts, wrap } from './text.js';

/** The state of a run in one plain line, for a log: `7 of 14 done, writing 2026-03-08, 12.5/min, 33 s left`. */
export function progressLine(progress: Progress): string {
  const { state, writing, failed, oldestFailed } = progress;
  if (state === 'planning') return 'planning';
  if (progress.waitingFor) return `waiting: ${progress.waitingFor}`;
  const parts = [
    doneOf(progress),
    ...(oldestFailed ? [`${printCount(failed)} failed, oldest ${oldestFailed.key}`] : []),
    ...(state === 'verifying' ? ['reading the table back'] : []),
    ...(writing.length > 0 ? [`writing ${someKeys(writing)}`] : []),
    ...speed(progress),
  ];
  return parts.join(', ');
}

/** What a line of a log is written for: it changes when something was done, not with the clock. */
export function progressMark({ state, done, failed, writing, waitingFor }: Progress): string {
  return [state, done, failed, waitingFor ?? '', ...writing].join(' ');
}

const BAR = 24;

/** The same with a bar, in one line that fits a terminal of `width` columns. */
export function progressBarLine(progress: Progress, width = WIDTH): string {
  const { total, done } = progress;
  const filled = total === 0 ? 0 : Math.floor((done / total) * BAR);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR - filled);
  const line = `${bar}  ${progressLine(progress)}`;
  // A line that wraps cannot be drawn over. Some terminals say that they have no columns.
  const columns = width > 0 ? width : WIDTH;
  return line.length < columns ? line : `${line.slice(0, Math.max(columns - 2, 0))}…`;
}

/** Where an open run stands, in full: what `status` prints. */
export function statusLines(progress: Progress): string[] {
  const { table, from, to, state, oldestFailed, page } = progress;
  const [rate, left] = [progress.rate, progress.secondsLeft];
  return [
    ...wrap(`${table}, ${from} to ${to}, both included: ${state}`),
    ...facts([
      ...(progress.waitingFor ? [['waiting', progress.waitingFor] as const] : []),
      ['done', doneOf(progress).replace(/ done$/, '')],
      ['failed', printCount(progress.failed)],
      ['writing', someKeys(progress.writing) || '–'],
      ['rate', rate === null ? '–' : printRate(rate)],
      ['time left', left === null ? '–' : printSeconds(left)],
      ['plan', progress.planId ?? '–'],
    ]),
    ...(page.length > 0 ? ['', ...calendar(page), '  █ done  ▶ writing  · waiting  ✗ failed'] : []),
    ...(oldestFailed
      ? ['', ...wrap(`Oldest failed: ${oldestFailed.key} (${oldestFailed.type})`), ...wrap(oldestFailed.message, '  ')]
      : []),
  ];
}

function doneOf({ done, total }: Progress): string {
  return `${printCount(done)} of ${printCount(total)} done`;
}

function speed({ rate, secondsLeft }: Progress): string[] {
  return [
    ...(rate === null ? [] : [printRate(rate)]),
    ...(secondsLeft === null ? [] : [`${printSeconds(secondsLeft)} left`]),
  ];
}

function someKeys(keys: readonly string[]): string {
  return keys.length <= 2 ? keys.join(', ') : `${keys[0]} and ${keys.length - 1} more`;
}

function calendar(page: Progress['page']): string[] {
  return calendarLines(page).map((line) => `  ${line}`);
}
