import type { WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client';

export const runStatuses = ['running', 'completed', 'failed', 'cancelled', 'terminated', 'timed-out'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** What Temporal knows of a run without asking a worker. Null: not known yet. */
export interface RunSummary {
  readonly workflowId: string;
  /** Of the latest execution of the run. */
  readonly runId: string;
  readonly status: RunStatus;
  readonly table: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly planId: string | null;
  /** The canonical request. */
  readonly request: string | null;
  readonly reason: string | null;
  readonly requestedBy: string | null;
  /** ISO 8601. A run that continued as new counts from its latest execution in a list, from its first when described. */
  readonly startedAt: string;
  readonly closedAt: string | null;
}

const statuses = {
  RUNNING: 'running',
  PAUSED: 'running',
  // The next execution of the same run is open, or about to be.
  CONTINUED_AS_NEW: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed-out',
  UNSPECIFIED: 'running',
  UNKNOWN: 'running',
} satisfies Record<WorkflowExecutionStatusName, RunStatus>;

export type ExecutionInfo = Pick<
  WorkflowExecutionInfo,
  'workflowId' | 'runId' | 'status' | 'memo' | 'startTime' | 'closeTime'
>;

export function summarize(info: ExecutionInfo, startTime: Date = info.startTime): RunSummary {
  const memo = (name: string) => {
    const value = info.memo?.[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    workflowId: info.workflowId,
    runId: info.runId,
    status: statuses[info.status.name],
    table: memo('table'),
    from: memo('from'),
    to: memo('to'),
    planId: memo('planId'),
    request: memo('request'),
    reason: memo('reason'),
    requestedBy: memo('requestedBy'),
    startedAt: startTime.toISOString(),
    closedAt: info.closeTime?.toISOString() ?? null,
  };
}
