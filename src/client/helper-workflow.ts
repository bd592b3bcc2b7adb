import type { WorkflowHandle } from '@temporalio/client';
import { NoWorker } from './errors.js';
import { type Session, call } from './session.js';
import { translateError } from './translate.js';
import { FIRST_TASK_MS, isTakenUp, requireWorker } from './worker-presence.js';

/** A short workflow that answers a question: `plan` or `read`. */
export interface HelperWorkflow {
  readonly type: string;
  readonly workflowId: string;
  readonly input: unknown;
  readonly timeoutMs: number;
  readonly summary: string;
}

/**
 * Asks and waits for the answer.
 * @throws {NoWorker} within five seconds, and then leaves no workflow behind
 */
export async function runHelper<T>(session: Session, helper: HelperWorkflow): Promise<T> {
  const deadline = Date.now() + FIRST_TASK_MS;
  await requireWorker(session);
  const handle = await startHelper(session, helper);
  if (!(await isTakenUp(session, handle, deadline))) {
    // Whoever comes later must not find a question that nobody waits for.
    await call(session, () => handle.terminate('no worker took it up'), { deadlineMs: 1_000 }).catch(() => undefined);
    throw new NoWorker(session.taskQueue);
  }
  try {
    return (await handle.result()) as T;
  } catch (error) {
    throw translateError(error, { address: session.address, workflowId: handle.workflowId });
  }
}

function startHelper(session: Session, helper: HelperWorkflow): Promise<WorkflowHandle> {
  const { type, workflowId, input, timeoutMs, summary } = helper;
  const options = { taskQueue: session.taskQueue, workflowId, args: [input], workflowExecutionTimeout: timeoutMs };
  return call(session, () => session.client.workflow.start(type, { ...options, staticSummary: summary }), {
    workflowId,
  });
}
