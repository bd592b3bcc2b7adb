import type { BackfillClient, HistoryCursor } from 'temporal-backfill';

/** The slowest answer of each kind of question, and the time for all of its pages, in milliseconds. */
export type Reads = Record<string, { readonly pages: number; readonly slowestMs: number; readonly allMs: number }>;

/** Asks everything that can be asked of a large run, page after page. */
export async function timeReads(client: BackfillClient, table: string, planId: string): Promise<Reads> {
  return {
    plan: await timePages<number>(async (after = 0) => {
      const last = (await client.readPlan(planId, { after }))?.partitions.at(-1);
      return last?.seq;
    }),
    run: await timePages(() => client.readRun(planId).then(nothing)),
    failures: await timePages(() => client.readFailures(planId).then(nothing)),
    tables: await timePages(() => client.readTables().then(nothing)),
    partitions: await timePages<string>(async (after) => {
      const { next } = await client.readPartitions(table, after === undefined ? {} : { after });
      return next ?? undefined;
    }),
    history: await timePages<HistoryCursor>(async (before) => {
      const { next } = await client.readHistory(table, before === undefined ? {} : { before });
      return next ?? undefined;
    }),
    'prune --dry-run': await timePages(() => client.prune({ olderThan: '1 day', dryRun: true }).then(nothing)),
  };
}

async function timePages<Cursor>(read: (cursor: Cursor | undefined) => Promise<Cursor | undefined>) {
  const times: number[] = [];
  let cursor: Cursor | undefined;
  do {
    const start = performance.now();
    cursor = await read(cursor);
    times.push(performance.now() - start);
  } while (cursor !== undefined);
  const allMs = times.reduce((sum, ms) => sum + ms, 0);
  return { pages: times.length, slowestMs: Math.round(Math.max(...times)), allMs: Math.round(allMs) };
}

const nothing = () => undefined;
