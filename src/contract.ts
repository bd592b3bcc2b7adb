/**
 * What client and worker share: names, task queues, workflow ids, messages. Changing a name here changes what people
 * type into the Temporal CLI.
 */
import { defineQuery } from '@temporalio/workflow';
import type { Progress, RunState } from './domain/progress.js';

export const TASK_QUEUE = 'backfill';

export const WorkflowType = { backfill: 'backfill', plan: 'plan', read: 'read' } as const;

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

/** Input of the read-only workflow `read`, by which the client sees the ledger without a database connection. */
export type ReadInput =
  | { readonly what: 'plan'; readonly planId: string; /** Page: after this seq. */ readonly after?: number }
  | { readonly what: 'run'; readonly planId: string };
