import type { Client } from '@temporalio/client';

/** The Temporal namespace in which a worker polls. */
export interface OwnNamespace {
  readonly name: string;
  /** Drawn when it was made: two servers that both have a namespace `default` differ by it. */
  readonly id: string;
}

export async function readOwnNamespace(client: Client): Promise<OwnNamespace> {
  const { namespace } = client.options;
  const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
  return { name: namespace, id: namespaceInfo?.id ?? '' };
}
