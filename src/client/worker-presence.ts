import type { WorkflowHandle } from '@temporalio/client';
import { NoWorker } from './errors.js';
import { type Session, call } from './session.js';

/** How long the first task of a workflow may lie before nobody is thought to be there. */
export const FIRST_TASK_MS = 3_500;

const POLL_MS = 100;
/** Started, task scheduled, task started. */
const EVENTS_ONCE_TAKEN_UP = 3;

/**
 * Whether a worker polls, as far as the server knows. It forgets a worker that was killed only after minutes, so a yes
 * has to be confirmed by a task that gets taken up.
 */
export async function requireWorker(session: Session): Promise<void> {
  const { client, taskQueue } = session;
  const { pollers } = await call(session, () =>
    client.workflowService.describeTaskQueue({ namespace: client.options.namespace, taskQueue: { name: taskQueue } }),
  );
  if (pollers.length === 0) throw new NoWorker(taskQueue);
}

/** Waits until a worker has taken up the workflow's first task; false when none has in time. */
export async function isTakenUp(session: Session, handle: WorkflowHandle, deadline: number): Promise<boolean> {
  for (;;) {
    const { historyLength } = await call(session, () => handle.describe(), { workflowId: handle.workflowId });
    if (historyLength >= EVENTS_ONCE_TAKEN_UP) return true;
    if (Date.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
