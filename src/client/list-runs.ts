import { WorkflowType } from '../contract.js';
import { canonicalTable } from '../domain/canonical-request.js';
import { type RunStatus, type RunSummary, summarize } from './run-summary.js';
import type { Session } from './session.js';
import { translateError } from './translate.js';

export interface RunFilter {
  readonly table?: string | undefined;
  readonly status?: RunStatus | undefined;
  /** Started then or later. */
  readonly since?: Date | undefined;
}

const executionStatuses = {
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Canceled',
  terminated: 'Terminated',
  'timed-out': 'TimedOut',
} satisfies Record<RunStatus, string>;

/**
 * The table is compared here and not by the server: its search attribute exists only where the worker may register it,
 * and a query by an unknown one fails.
 */
export async function* listRuns(session: Session, { table, status, since }: RunFilter): AsyncGenerator<RunSummary> {
  const isStatus = status ? ` = '${executionStatuses[status]}'` : ` != 'ContinuedAsNew'`;
  const isSince = since ? ` AND StartTime >= '${since.toISOString()}'` : '';
  const query = `WorkflowType = '${WorkflowType.backfill}' AND ExecutionStatus${isStatus}${isSince}`;
  const wanted = table === undefined ? undefined : canonicalTable(table);
  try {
    for await (const info of session.client.workflow.list({ query, pageSize: 100 })) {
      const run = summarize(info);
      if (wanted === undefined || run.table === wanted) yield run;
    }
  } catch (error) {
    throw translateError(error, { address: session.address, workflowId: '' });
  }
}
