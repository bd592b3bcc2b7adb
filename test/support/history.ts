import type { Client } from '@temporalio/client';

/** The status of the latest execution, in the words of the Web UI's API: `FAILED`, `COMPLETED` … */
export async function statusOf(temporal: Client, workflowId: string): Promise<string> {
  return (await temporal.workflow.getHandle(workflowId).describe()).status.name;
}

/** What a failed test left running would be in the way of the next one. */
export async function terminateOpenRuns(temporal: Client): Promise<void> {
  for await (const { workflowId } of temporal.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
    await temporal.workflow
      .getHandle(workflowId)
      .terminate('left by another test')
      .catch(() => {});
  }
}

/** How many activities of a kind the latest execution has scheduled. */
export async function activityCount(temporal: Client, workflowId: string, name: string): Promise<number> {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name)
    .length;
}

/** The keys whose replacement was scheduled by the latest execution, in order. */
export async function scheduledKeys(temporal: Client, workflowId: string): Promise<string[]> {
  return (await partitionEvents(temporal, workflowId)).map(({ key }) => key);
}

/** The number of the attempt with which the replacement of a key ended, and what the attempt before it said. */
export async function lastAttempt(temporal: Client, workflowId: string, key: string) {
  const events = await partitionEvents(temporal, workflowId);
  return events.find((event) => event.key === key)?.started;
}

interface PartitionEvents {
  readonly key: string;
  readonly started: { readonly attempt: number; readonly lastFailure: string | undefined } | undefined;
}

async function partitionEvents(temporal: Client, workflowId: string): Promise<PartitionEvents[]> {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  const all = events ?? [];
  return all.flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) => {
    if (scheduled?.activityType?.name !== 'replacePartition') return [];
    const started = all.find((event) =>
      event.activityTaskStartedEventAttributes?.scheduledEventId?.equals(eventId ?? 0),
    )?.activityTaskStartedEventAttributes;
    return {
      key: scheduled.activityId?.split('/').at(-1) ?? '',
      started: started
        ? { attempt: started.attempt ?? 0, lastFailure: started.lastFailure?.message ?? undefined }
        : undefined,
    };
  });
}
