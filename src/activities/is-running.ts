import type { Client } from '@temporalio/client';

/** Whether an execution is open, in any run of its chain of continue-as-new. */
export async function isRunning(client: Client, workflowId: string, executionId: string): Promise<boolean> {
  try {
    const { status, raw } = await client.workflow
      .getHandle(workflowId, undefined, { firstExecutionRunId: executionId })
      .describe();
    return status.name === 'RUNNING' && (raw.workflowExecutionInfo?.firstRunId ?? executionId) === executionId;
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return false;
    throw error;
  }
}
