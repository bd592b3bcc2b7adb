import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { searchAttributes } from './contract.js';

/** The number of type Keyword in Temporal's API. */
const KEYWORD = 2;

/**
 * Registers our search attributes in the namespace where they are missing and we may.
 * @returns whether all are there. Where they are not (Temporal Cloud), runs go on without them.
 */
export async function ensureSearchAttributes(connection: NativeConnection, namespace: string): Promise<boolean> {
  const names = Object.values(searchAttributes).map(({ name }) => name);
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = names.filter((name) => !(name in (customAttributes ?? {})));
    if (missing.length > 0) {
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
      });
    }
    return true;
  } catch {
    return false;
  }
}

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
