/**
 * What client and worker share: names, task queues, workflow ids, messages. Changing a name here changes what people
 * type into the Temporal CLI.
 */
import { defineQuery } from '@temporalio/workflow';
import type { DoctorTarget, Finding } from './domain/finding.js';
import type { FailuresPage, HistoryCursor, HistoryPage } from './domain/history.js';
import type { RunRecord } from './domain/outcome.js';
import type { Plan } from './domain/plan.js';
import type { Progress, RunState } from './domain/progress.js';
import type { PartitionsPage, TablesPage } from './domain/table-state.js';

export const TASK_QUEUE = 'backfill';

/**
 * The task queue of worker, client and commands. The environment alone names another one: a file that only the worker
 * reads would let the others ask on a queue that nobody serves.
 */
export function taskQueueOf(env: Readonly<Record<string, string | undefined>>): string {
  return env['BACKFILL_TASK_QUEUE'] || TASK_QUEUE;
}

export const WorkflowType = {
  backfill: 'backfill',
  plan: 'plan',
  read: 'read',
  prune: 'prune',
  sweep: 'sweep',
} as const;

export const progressQuery = defineQuery<Progress>('progress');

/** Search attributes, with their Temporal types. The worker registers them at start where it may. */
export const searchAttributes = {
  table: { name: 'BackfillTable', type: 'KEYWORD' },
  state: { name: 'BackfillState', type: 'KEYWORD' },
  from: { name: 'BackfillFrom', type: 'KEYWORD' },
  to: { name: 'BackfillTo', type: 'KEYWORD' },
} as const;

/** The values of a run's search attributes. */
export function searchAttributePairs(
  run: { readonly table: string; readonly from: string; readonly to: string },
  state: RunState,
) {
  const { table, from, to } = searchAttributes;
  return [
    { key: table, value: run.table },
    { key: searchAttributes.state, value: state },
    { key: from, value: run.from },
    { key: to, value: run.to },
  ];
}

/** What a run's memo holds. `request` is the canonical request, by which a second start knows that it is the same. */
export interface BackfillMemo {
  readonly table: string;
  readonly from: string;
  readonly to: string;
  readonly planId: string;
  readonly request: string;
  readonly reason: string | null;
  readonly requestedBy: string | null;
}

/** The default workflow id: one open run for a table and range. `table` is the canonical spelling. */
export function backfillWorkflowId(table: string, from: string, to: string): string {
  return `backfill/${table}/${from}..${to}`;
}

/** The same for an undo: the run that it undoes may have the range's own, and be retried. */
export function undoWorkflowId(table: string, from: string, to: string): string {
  return `backfill-undo/${table}/${from}..${to}`;
}

/** The schedule that starts the workflow `sweep` once a day. Workers of another task queue have one of their own. */
export function sweepScheduleId(taskQueue: string): string {
  return taskQueue === TASK_QUEUE ? 'backfill-sweep' : `backfill-sweep/${taskQueue}`;
}

/** Input of the read-only workflow `read`, by which the client sees the ledger without a database connection. */
export type ReadInput =
  | { readonly what: 'plan'; readonly planId: string; /** Page: after this seq. */ readonly after?: number }
  | { readonly what: 'run'; readonly planId: string }
  /** Every definition of the worker. `after`: so many of them were read before. */
  | { readonly what: 'tables'; readonly after?: number }
  | { readonly what: 'history'; readonly table: string; readonly key?: string; readonly before?: HistoryCursor }
  /** `after`: a key. */
  | { readonly what: 'partitions'; readonly table: string; readonly after?: string }
  /** `after`: a position in the plan. */
  | { readonly what: 'failed'; readonly planId: string; readonly after?: number }
  | ({
      readonly what: 'doctor';
      /** Worker processes, as far as is known. */ readonly workers?: number;
    } & DoctorTarget);

/** What the workflow answers to each question. */
export interface ReadAnswers {
  readonly plan: Plan | null;
  readonly run: RunRecord | null;
  readonly tables: TablesPage;
  readonly history: HistoryPage;
  readonly partitions: PartitionsPage;
  readonly failed: FailuresPage;
  readonly doctor: readonly Finding[];
}
