import type { FailureInfo } from '../domain/failure.js';
import type { BackfillResult, PartitionFailedDetails, VerificationFailedDetails } from '../domain/outcome.js';
import { countOf, printCount, printTime } from './figures.js';
import { shellWord } from './shell-word.js';
import { facts, items, wrap } from './text.js';

/** How a run ended. */
export type RunEnd =
  | { readonly kind: 'completed'; readonly result: BackfillResult }
  | { readonly kind: 'partition-failed'; readonly details: PartitionFailedDetails }
  | { readonly kind: 'verification-failed'; readonly details: VerificationFailedDetails }
  /** Refused, or failed outside any one partition. */
  | { readonly kind: 'not-done'; readonly message: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'ended-from-outside'; readonly how: 'terminated' | 'timed-out' };

/** Where the run is to be found. */
export interface RunPlace {
  readonly workflowId: string;
  readonly link: string | null;
  /** Without a plan there is nothing to go on with. */
  readonly planId: string | null;
}

/** The last words on a run: what was done, or what was not, why, and the exact command that goes on. */
export function outcomeLines(end: RunEnd, place: RunPlace): string[] {
  switch (end.kind) {
    case 'completed':
      return completed(end.result, place);
    case 'partition-failed':
      return partitionFailed(end.details, place);
    case 'verification-failed':
      return verificationFailed(end.details, place);
    case 'not-done':
      return [...wrap(`Not done: ${end.message}`), ...facts(where(place))];
    case 'cancelled':
      return [
        'Cancelled. What was done stays done.',
        ...facts(where(place)),
        ...goOn('To go on with the rest:', place),
      ];
    case 'ended-from-outside':
      return [
        ...wrap(`The run ${end.how === 'terminated' ? 'was terminated' : 'timed out'}. What was done stays done.`),
        ...facts(where(place)),
        ...goOn('To go on with the rest:', place),
      ];
    default:
      return end satisfies never;
  }
}

/** The command that goes on with a run that did not complete. */
function retryCommand(workflowId: string): string {
  return `backfill retry ${shellWord(workflowId)}`;
}

function completed(result: BackfillResult, place: RunPlace): string[] {
  const { partitions, table, from, to, rowsBefore, rowsAfter, changes, planId, emptied, keptUntil } = result;
  const range = `${table}, ${from} to ${to}, both included`;
  return [
    ...wrap(`Completed: ${countOf(partitions, 'partition')} of ${range}.`),
    ...facts([
      ['rows', `${printCount(rowsBefore)} before, ${printCount(rowsAfter)} after`],
      ...changed(changes, partitions),
      ['plan', planId],
      ...where(place),
    ]),
    ...(emptied.length === 0 ? [] : ['Had rows before and have none now:']),
    ...items(emptied.map(({ key, rowsBefore: rows }) => `${key} (${countOf(rows, 'row')} before)`)),
    ...(keptUntil === null
      ? []
      : [
          `To put back what it replaced, until ${printTime(keptUntil)}:`,
          `  backfill undo ${shellWord(place.workflowId)}`,
        ]),
  ];
}

/** Where old and new rows were compared; said with the number of partitions where not all were. */
function changed(changes: BackfillResult['changes'], partitions: number): (readonly [string, string])[] {
  if (!changes) return [];
  const counts = (['added', 'removed', 'changed', 'unchanged'] as const).map(
    (kind) => `${printCount(changes[kind])} ${kind}`,
  );
  const part = changes.partitions < partitions ? ` (in ${countOf(changes.partitions, 'partition')})` : '';
  return [['compared', `${counts.join(', ')}${part}`]];
}

function partitionFailed(details: PartitionFailedDetails, place: RunPlace): string[] {
  const { oldest, planId, done, failed, total } = details;
  return [
    ...wrap(`Failed at ${oldest.key}: ${oldest.message}`),
    ...facts([
      ...causeFacts(oldest),
      ['done', `${printCount(done)} of ${printCount(total)}; they stay as they were written`],
      ['failed', printCount(failed)],
      ['plan', planId],
      ...where(place),
    ]),
    ...goOn(`To go on at ${oldest.key} once the cause is repaired:`, place),
  ];
}

/** What is known of a failure beside its message. */
export function causeFacts({ type, sqlstate, detail, check, sample }: FailureInfo): (readonly [string, string])[] {
  return [
    ['cause', sqlstate ? `${type}, SQLSTATE ${sqlstate}` : type],
    ...(check ? [['check', check] as const] : []),
    ...(detail ? [['detail', detail] as const] : []),
    ...(sample && sample.length > 0 ? [['rows', sample.join('; ')] as const] : []),
  ];
}

function verificationFailed({ count, differences, planId }: VerificationFailedDetails, place: RunPlace): string[] {
  return [
    ...wrap(`Failed: the table is not as this run recorded it in ${countOf(count, 'partition')}.`),
    ...items(
      differences.map(
        ({ key, rowsRecorded, rowsFound, rowsOfOthers }) =>
          `${key}: ${countOf(rowsRecorded, 'row')} recorded, ${printCount(rowsFound)} found` +
          (rowsOfOthers > 0 ? `, ${printCount(rowsOfOthers)} of them written by others` : ''),
      ),
    ),
    ...(count > differences.length ? [`  … and ${printCount(count - differences.length)} more`] : []),
    ...facts([['plan', planId], ...where(place)]),
  ];
}

function where({ workflowId, link }: RunPlace): (readonly [string, string])[] {
  return [['run', workflowId], ...(link === null ? [] : [['web UI', link] as const])];
}

function goOn(words: string, { workflowId, planId }: RunPlace): string[] {
  return planId === null ? [] : [words, `  ${retryCommand(workflowId)}`];
}
