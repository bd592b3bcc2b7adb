import { printTime } from './figures.js';
import { facts, wrap } from './text.js';

/** What is shown of a run in a list. */
export interface ListedRun {
  readonly workflowId: string;
  readonly status: string;
  readonly startedAt: string;
  readonly closedAt: string | null;
  readonly planId: string | null;
  readonly reason: string | null;
  readonly requestedBy: string | null;
}

/** Two lines a run: its id alone, so that it can be copied, and what there is to say of it. */
export function runListLines(runs: readonly ListedRun[]): string[] {
  if (runs.length === 0) return ['No run.'];
  return runs.flatMap((run) => [run.workflowId, ...wrap(about(run), `  ${run.status.padEnd(10)}  `)]);
}

/** One run, a fact a line. */
export function runLines(run: ListedRun): string[] {
  return [
    run.workflowId,
    ...facts([
      ['status', run.status],
      ['started', printTime(run.startedAt)],
      ...(run.closedAt === null ? [] : [['ended', printTime(run.closedAt)] as const]),
      ...(run.planId === null ? [] : [['plan', run.planId] as const]),
      ...(run.requestedBy === null ? [] : [['by', run.requestedBy] as const]),
      ...(run.reason === null ? [] : [['reason', run.reason] as const]),
    ]),
  ];
}

function about({ startedAt, closedAt, requestedBy, reason }: ListedRun): string {
  const time = closedAt === null ? printTime(startedAt) : `${printTime(startedAt)} to ${printTime(closedAt)}`;
  return `${time}${requestedBy ? ` by ${requestedBy}` : ''}${reason ? `: ${reason}` : ''}`;
}
