import type { Client } from '@temporalio/client';
import { WorkflowType, sweepScheduleId } from '../contract.js';

/**
 * Lets Temporal start the workflow `sweep` once a day, at three in the morning, UTC. A schedule that is there is left as
 * it is: somebody may have paused it, or chosen another hour. Where we may not make one (a server without schedules, or
 * without the right to them), copies stay until somebody starts a sweep; `backfill doctor` says so.
 */
export async function ensureSweepSchedule(client: Client, taskQueue: string): Promise<void> {
  const scheduleId = sweepScheduleId(taskQueue);
  const create = () =>
    client.schedule.create({
      scheduleId,
      spec: {
        calendars: [{ hour: 3, minute: 0, comment: 'Drop copies of replaced rows whose time is over' }],
        timezone: 'UTC',
      },
      action: { type: 'startWorkflow', workflowType: WorkflowType.sweep, workflowId: scheduleId, taskQueue, args: [] },
      policies: { overlap: 'SKIP', catchupWindow: '1 day' },
      state: { note: 'Made by a worker of temporal-backfill. It is left as it is while it is there.' },
    });
  try {
    // A worker's start does not wait for a server that is slow to say no.
    await client.withDeadline(Date.now() + 5_000, create);
  } catch {
    return;
  }
}
