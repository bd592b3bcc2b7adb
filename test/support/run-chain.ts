import { defaultPayloadConverter } from '@temporalio/common';
import type { Client, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';

export type History = Awaited<ReturnType<WorkflowHandleWithFirstExecutionRunId['fetchHistory']>>;

/** The histories of a run, from its first execution on through every continue-as-new. */
export async function readChain(
  client: Client,
  handle: Pick<WorkflowHandleWithFirstExecutionRunId, 'workflowId' | 'firstExecutionRunId'>,
): Promise<History[]> {
  const chain: History[] = [];
  for (let runId: string | null | undefined = handle.firstExecutionRunId; runId;) {
    const history: History = await client.workflow.getHandle(handle.workflowId, runId).fetchHistory();
    chain.push(history);
    runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return chain;
}

/** The keys whose writing was scheduled, in the order of the history: one by one, or several in a slice. */
export function scheduledKeysOf({ events }: History): string[] {
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const payload = scheduled?.input?.payloads?.[0];
    if (!payload || !scheduled.activityType?.name?.startsWith('replacePartition')) return [];
    const { key, keys } = defaultPayloadConverter.fromPayload<{ key?: string; keys?: string[] }>(payload);
    return keys ?? [key ?? ''];
  });
}

/** Bytes of every payload within a history: inputs, results, details of failures, memo. */
export function payloadSizesOf(value: unknown): number[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const { data } = value as { readonly data?: unknown };
  return data instanceof Uint8Array ? [data.length] : Object.values(value).flatMap(payloadSizesOf);
}
