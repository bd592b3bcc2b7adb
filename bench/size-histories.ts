import type { Client } from '@temporalio/client';
import { payloadSizesOf } from '../test/support/run-chain.js';

/** What Temporal keeps of a run, over all of its executions. */
export interface Histories {
  readonly executions: number;
  readonly mostEvents: number;
  readonly mostHistoryBytes: number;
  readonly largestPayloadBytes: number;
}

export async function measureHistories(client: Client, query: string): Promise<Histories> {
  const all: Histories[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const [{ events }, description] = [await handle.fetchHistory(), await handle.describe()];
    all.push({
      executions: 1,
      mostEvents: events?.length ?? 0,
      mostHistoryBytes: description.historySize ?? 0,
      largestPayloadBytes: Math.max(0, ...payloadSizesOf(events)),
    });
  }
  const most = (of: (one: Histories) => number) => Math.max(0, ...all.map(of));
  return {
    executions: all.length,
    mostEvents: most((one) => one.mostEvents),
    mostHistoryBytes: most((one) => one.mostHistoryBytes),
    largestPayloadBytes: most((one) => one.largestPayloadBytes),
  };
}

/** Where a run went on after a retry: the first key that was scheduled, when, and how many executions looked for it. */
export interface Resumed {
  readonly key: string;
  readonly afterMs: number;
  readonly executionsBefore: number;
}

export async function findResumption(
  client: Client,
  workflowId: string,
  retriedAt: Date,
): Promise<Resumed | undefined> {
  const executions: { readonly runId: string; readonly startTime: Date }[] = [];
  for await (const { runId, startTime } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
    if (startTime >= retriedAt) executions.push({ runId, startTime });
  const inOrder = executions.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime());
  for (const [executionsBefore, { runId }] of inOrder.entries()) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const event = events?.find((one) =>
      one.activityTaskScheduledEventAttributes?.activityType?.name?.startsWith('replacePartition'),
    );
    const key = event?.activityTaskScheduledEventAttributes?.activityId?.split('/').at(-1)?.split('..')[0];
    if (event && key) return { key, afterMs: msOf(event.eventTime) - retriedAt.getTime(), executionsBefore };
  }
  return undefined;
}

function msOf(
  time: { readonly seconds?: { toNumber(): number } | null; readonly nanos?: number | null } | null | undefined,
): number {
  return (time?.seconds?.toNumber() ?? 0) * 1000 + Math.round((time?.nanos ?? 0) / 1e6);
}
