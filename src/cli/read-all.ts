import type { FailureRecord, HistoryCursor, HistoryEntry } from '../domain/history.js';
import type { PartitionRecord, TableState } from '../domain/table-state.js';
import type { CliClient } from './io.js';

/** All pages of what the ledger answers a page at a time. */
async function readPages<T, C>(
  read: (at: C | undefined) => Promise<{ readonly items: readonly T[]; readonly next: C | null }>,
  most = Infinity,
): Promise<T[]> {
  const all: T[] = [];
  for (let at: C | null | undefined; at !== null && all.length < most;) {
    const { items, next } = await read(at);
    all.push(...items);
    at = next;
  }
  return all.slice(0, most);
}

export function readAllTables(client: CliClient): Promise<TableState[]> {
  return readPages(async (after: number | undefined) => {
    const { tables, next } = await client.readTables(after === undefined ? {} : { after });
    return { items: tables, next };
  });
}

export function readAllFailures(client: CliClient, planId: string): Promise<FailureRecord[]> {
  return readPages(async (after: number | undefined) => {
    const { failures, next } = await client.readFailures(planId, after === undefined ? {} : { after });
    return { items: failures, next };
  });
}

export function readAllPartitions(client: CliClient, table: string): Promise<PartitionRecord[]> {
  return readPages(async (after: string | undefined) => {
    const { partitions, next } = await client.readPartitions(table, after === undefined ? {} : { after });
    return { items: partitions, next };
  });
}

/** The newest entries: at most so many. */
export function readNewest(
  client: CliClient,
  { table, key, most }: { readonly table: string; readonly key: string | undefined; readonly most: number },
): Promise<HistoryEntry[]> {
  const of = key === undefined ? {} : { key };
  return readPages(async (before: HistoryCursor | undefined) => {
    const { entries, next } = await client.readHistory(table, before === undefined ? of : { ...of, before });
    return { items: entries, next };
  }, most);
}
