/**
 * `npm run bench:size [-- days created hours]`: ranges of ten to a hundred thousand partitions, end to end on the embedded
 * stack. Each run meets a fault at its partition 9,000 (or its last), stops, and is taken up again.
 */
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { BackfillClient, PartitionFailed } from 'temporal-backfill';
import { findResumption, measureHistories } from './size-histories.js';
import { timeReads } from './size-reads.js';
import { type SizeStack, startStack, timeCommand } from './size-stack.js';
import { type SizedTable, keyAt, tables } from './size-tables.js';
import { watch } from './size-watch.js';

const CONCURRENCY = 16;
const FAULT_AT = 9_000;

for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(tables)) {
  const table = (tables as Record<string, SizedTable>)[name];
  if (!table) throw new Error(`${name} is none of ${Object.keys(tables).join(', ')}`);
  log(`${name}: ${table.partitions} partitions`);
  // Two connections beside those of the partitions: for the ledger, and for whoever asks.
  const stack = await startStack(CONCURRENCY + 2);
  const db = new pg.Client({ connectionString: stack.databaseUrl });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    await db.connect();
    log(
      `${name} ${JSON.stringify(await measure(table, { stack, db, temporal: new Client({ connection }) }), null, 2)}`,
    );
  } finally {
    await db.end();
    await connection.close();
    await stack.stop();
  }
}

interface Parts {
  readonly stack: SizeStack;
  readonly db: pg.Client;
  readonly temporal: Client;
}

async function measure(table: SizedTable, parts: Parts) {
  const { stack, db, temporal } = parts;
  const client = await BackfillClient.connect({ client: temporal });
  const faulty = keyAt(table, Math.min(FAULT_AT, table.partitions));
  await db.query(`create table fault (key text primary key); ${table.ddl}`);
  await db.query('insert into fault values ($1)', [faulty]);

  const start = performance.now();
  const { name, from, to } = table;
  const plan = await client.plan({ table: name, from, to, concurrency: CONCURRENCY, publish: 'any-order' });
  const planMs = Math.round(performance.now() - start);
  const run = await client.start({ plan: plan.planId });
  const stopWatching = watch(run, () => timeCommand(stack.env, 'status', run.workflowId), log);
  const failure: unknown = await run.result().catch((error: unknown) => error);
  if (!(failure instanceof PartitionFailed) || failure.key !== faulty)
    throw new Error(`Not the fault: ${String(failure)}`);
  log(`failed at ${failure.key}: ${failure.done} of ${failure.total} done`);

  await db.query('delete from fault');
  const retriedAt = new Date();
  const { partitions, rowsAfter } = await (await run.retry()).result();
  const ms = performance.now() - start;
  const answers = await stopWatching();
  const peakMb = stack.workerPeakMb();
  log(`completed: ${JSON.stringify({ ms, answers, peakMb })}`);
  const { rows } = await db.query<Record<string, number>>(
    `select count(*)::int as replacements, max(generation)::int as "mostGenerations",
            (select count(*)::int from ${name}) as rows from backfill.replacement`,
  );
  return {
    partitions,
    rowsAfter,
    found: rows[0],
    seconds: Math.round(ms / 1000),
    msAPartition: Number((ms / table.partitions).toFixed(1)),
    planMs,
    fault: { key: faulty, resumed: await findResumption(temporal, run.workflowId, retriedAt) },
    run: await measureHistories(temporal, `WorkflowId = '${run.workflowId}'`),
    answers,
    workerPeakMb: peakMb,
    reads: await timeReads(client, name, plan.planId),
    helpers: await measureHistories(temporal, `WorkflowType in ('plan', 'read', 'prune')`),
    workerPeakMbAfterReads: stack.workerPeakMb(),
  };
}

function log(line: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
}
