import type { Client } from '@temporalio/client';

/** Whatever else a status says, a paused one for example, is not gone. */
const CLOSED: readonly string[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT'];

/** Whether an execution is open, in any run of its chain of continue-as-new. */
export async function isRunning(client: Client, workflowId: string, executionId: string): Promise<boolean> {
  try {
    const { status, raw } = await client.workflow
      .getHandle(workflowId, undefined, { firstExecutionRunId: executionId })
      .describe();
    return !CLOSED.includes(status.name) && (raw.workflowExecutionInfo?.firstRunId ?? executionId) === executionId;
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return false;
    throw error;
  }
}
