import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { createActivities } from '../../src/activities/index.js';
import { isRunning } from '../../src/activities/is-running.js';
import { readOwnNamespace } from '../../src/activities/own-namespace.js';
import { ensureSweepSchedule } from '../../src/activities/sweep-schedule.js';
import type { Dependencies } from '../../src/activities/dependencies.js';
import { BackfillClient } from '../../src/client/backfill-client.js';
import type { ConfigInput } from '../../src/config/define.js';
import { parseConfig } from '../../src/config/load.js';
import { TASK_QUEUE } from '../../src/contract.js';
import { tolerantConverter } from '../../src/payloads.js';
import { type Database, openDatabase } from '../../src/postgres/database.js';
import { ensureSearchAttributes, workerOptions } from '../../src/worker.js';
import { type TestDatabase, createDatabase } from './database.js';

export type TableInput = ConfigInput['tables'][number];

export interface HarnessOptions {
  readonly tables: readonly TableInput[];
  /** URLs of other databases. */
  readonly sources?: Readonly<Record<string, string>>;
  readonly now?: () => Date;
  readonly pageSize?: number;
  /** Activity slots and connections of the worker. */
  readonly slots?: number;
}

/** What a test brings itself, where the shared servers will not do: those that it kills. */
export interface OwnParts {
  readonly db?: TestDatabase;
  readonly temporalAddress?: string;
  /** The worker's way to the database, where it is not the test's. */
  readonly workerDatabaseUrl?: string;
}

/** A database, a Temporal namespace and a worker in this process, of one test file alone. */
export interface Harness {
  readonly db: TestDatabase;
  readonly temporal: Client;
  readonly client: BackfillClient;
  readonly namespace: string;
  /** For child processes: the Temporal CLI, the `backfill` CLI. */
  readonly env: NodeJS.ProcessEnv;
  /** Replaces the worker by one with other definitions. */
  restartWorker(options: HarnessOptions): Promise<void>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param schema SQL that makes the tables, run before the worker starts
 * @param options null for no worker in this process
 */
export async function createHarness(
  schema: string,
  options: HarnessOptions | null,
  own: OwnParts = {},
): Promise<Harness> {
  const db = own.db ?? (await createDatabase());
  await db.query(schema);
  const address = own.temporalAddress ?? inject('temporalAddress');
  // Soon again after a server was away: by default a client waits up to two minutes.
  const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 1000 };
  const connection = await Connection.connect({ address, channelArgs });
  const namespace = await createNamespace(connection);
  const temporal = new Client({ connection, namespace, dataConverter: tolerantConverter });
  const client = await BackfillClient.connect({ client: temporal });
  const start = (next: HarnessOptions) => startWorker(own.workerDatabaseUrl ?? db.url, address, namespace, next);
  let running = options && (await start(options));
  const stopWorker = async () => running?.stop();
  return {
    db,
    temporal,
    client,
    namespace,
    env: { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, DATABASE_URL: db.url },
    stopWorker,
    async restartWorker(next) {
      await stopWorker();
      running = await start(next);
    },
    async close() {
      await stopWorker();
      await connection.close();
      await db.drop();
    },
  };
}

/** Every test file has a namespace, because all workers poll the same task queue. */
export async function createNamespace(connection: Connection): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  // The server's other parts hear of it a moment later.
  for (;;) {
    try {
      await connection.workflowService.listWorkflowExecutions({ namespace });
      return namespace;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

interface RunningWorker {
  stop(): Promise<void>;
}

async function startWorker(
  url: string,
  address: string,
  namespace: string,
  options: HarnessOptions,
): Promise<RunningWorker> {
  quiet();
  const slots = options.slots ?? 10;
  const database = openDatabase({ url, size: slots });
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    ...workerOptions(slots),
    workflowBundle: { codePath: inject('workflowBundle') },
    connection,
    namespace,
    activities: createActivities(await dependencies(database, connection, namespace, address, options)),
  });
  await ensureSweepSchedule(new Client({ connection, namespace }), TASK_QUEUE);
  const run = worker.run();
  await untilPolling(connection, namespace);
  let stopped = false;
  return {
    async stop() {
      if (stopped) return;
      stopped = true;
      worker.shutdown();
      await run;
      await connection.close();
      await database.close();
    },
  };
}

/** The client says at once that nobody polls, where nobody does yet. */
async function untilPolling({ workflowService }: NativeConnection, namespace: string): Promise<void> {
  for (;;) {
    const { pollers } = await workflowService.describeTaskQueue({ namespace, taskQueue: { name: TASK_QUEUE } });
    if (pollers.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function dependencies(
  database: Database,
  connection: NativeConnection,
  namespace: string,
  address: string,
  options: HarnessOptions,
): Promise<Dependencies> {
  const client = new Client({
    connection: await Connection.connect({ address }),
    namespace,
    dataConverter: tolerantConverter,
  });
  return {
    database,
    ...openSources(options),
    namespace: await readOwnNamespace(client),
    now: options.now ?? (() => new Date()),
    hasSearchAttributes: await ensureSearchAttributes(connection, namespace),
    isRunning: (workflowId, executionId) => isRunning(client, workflowId, executionId),
    pageSize: options.pageSize ?? 500,
  };
}

function openSources({ tables, sources = {} }: HarnessOptions): Pick<Dependencies, 'definitions' | 'sources'> {
  const named = Object.fromEntries(Object.entries(sources).map(([name, url]) => [name, { url }]));
  const { definitions } = parseConfig({ tables, sources: named });
  const opened = Object.entries(sources).map(([name, url]) => [name, openDatabase({ url, size: 4 })] as const);
  return { definitions, sources: new Map(opened) };
}

let isQuiet = false;

export function quiet(): void {
  if (isQuiet) return;
  isQuiet = true;
  Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} } });
}
