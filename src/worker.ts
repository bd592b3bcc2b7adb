/**
 * The worker process: environment → connections → worker → run → drain.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Dependencies } from './activities/dependencies.js';
import { demandUsableLedger } from './activities/demand-ledger.js';
import { createActivities } from './activities/index.js';
import { isRunning } from './activities/is-running.js';
import { readOwnNamespace } from './activities/own-namespace.js';
import { ensureSweepSchedule } from './activities/sweep-schedule.js';
import { configFile, databaseUrl, httpAddress, ledgerSchema, poolSize, sourceUrl } from './config/environment.js';
import { type Config, loadConfig } from './config/load.js';
import { TASK_QUEUE, searchAttributes, taskQueueOf } from './contract.js';
import { choosePorts } from './dev/ports.js';
import { readState } from './dev/state.js';
import { type Checks, type HealthServer, startHealthServer } from './health.js';
import { installRuntime, shutDownRuntime } from './observability.js';
import { tolerantConverter } from './payloads.js';
import { type Database, openDatabase } from './postgres/database.js';
import { toBackfillError } from './postgres/sqlstate.js';

/** Temporal's own default. */
const DEFAULT_ADDRESS = 'localhost:7233';

export interface WorkerProcessOptions {
  /** Default: `BACKFILL_CONFIG`, else `backfill.config.ts` in the working folder. */
  readonly configPath?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** Called once, when it polls. */
  readonly onReady?: (() => void) | undefined;
  /** Stops it, beside SIGINT and SIGTERM. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a worker until it is told to stop; then partitions in flight have ten seconds to end, and are rolled back after
 * that.
 * @throws ConfigError: the config file or an environment variable
 * @throws BackfillError: LedgerOutdated
 */
export async function runWorker(options: WorkerProcessOptions = {}): Promise<void> {
  // Temporal's sandbox sees the process's time zone.
  process.env['TZ'] = 'UTC';
  const { env = process.env } = options;
  const http = httpAddress(env);
  const metricsAddress = http && `127.0.0.1:${(await choosePorts([undefined])).join('')}`;
  installRuntime({ level: env['BACKFILL_LOG_LEVEL'], metricsAddress });
  // Whoever reads it may be killed, and a worker must drain all the same.
  process.stderr.on('error', () => {});
  let checks: Checks = { worker: () => Promise.resolve('STARTING') };
  let health: HealthServer | undefined;
  try {
    const metricsUrl = `http://${metricsAddress}/metrics`;
    if (http) health = await startHealthServer({ ...http, metricsUrl, checks: () => checks });
    await connectAndServe({ ...options, onCheckable: (all) => (checks = all) });
  } finally {
    await health?.close();
    await shutDownRuntime();
  }
}

interface CheckedWorkerOptions extends WorkerProcessOptions {
  /** Called once, when there is something to check. */
  readonly onCheckable: (checks: Checks) => void;
}

async function connectAndServe({ configPath, env = process.env, ...rest }: CheckedWorkerOptions): Promise<void> {
  const embedded = readState();
  const config = await loadConfig(configPath ?? configFile(env));
  const size = poolSize(env, config);
  const url = databaseUrl(env, config.databaseUrl, embedded?.databaseUrl);
  const sources = openSources(config, size);
  const database = openDatabase({ url, size, ledgerSchema: ledgerSchema(env, config) });
  try {
    await demandUsableLedger(database);
    await serve(config, { database, sources }, { size, env, embeddedAddress: embedded?.temporalAddress, ...rest });
  } finally {
    await Promise.all([database, ...sources.values()].map((opened) => opened.close()));
  }
}

type Databases = Pick<Dependencies, 'database' | 'sources'>;

/** Connected to when a build needs it: a source that is away holds up its own tables only. */
function openSources({ sources }: Config, size: number): Databases['sources'] {
  const urls = [...sources].map(([name, url]) => [name, sourceUrl(name, url)] as const);
  return new Map(urls.map(([name, url]) => [name, openDatabase({ url, size })]));
}

interface ServeOptions extends Pick<CheckedWorkerOptions, 'onReady' | 'signal' | 'onCheckable'> {
  readonly size: number;
  readonly env: NodeJS.ProcessEnv;
  /** Of the Temporal that runs in this folder, for where nothing else is named. */
  readonly embeddedAddress: string | undefined;
}

async function serve(config: Config, databases: Databases, options: ServeOptions): Promise<void> {
  const { size, env, embeddedAddress, onReady, onCheckable, signal } = options;
  const set = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const overrideEnvVars = Object.fromEntries(set);
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({ overrideEnvVars });
  const { address = embeddedAddress ?? DEFAULT_ADDRESS, ...how } = connectionOptions;
  const connection = await NativeConnection.connect({ ...how, address });
  try {
    const client = new Client({ connection, namespace, dataConverter: tolerantConverter });
    const worker = await Worker.create({
      ...workerOptions(size, taskQueueOf(env)),
      connection,
      namespace,
      activities: createActivities({
        ...databases,
        definitions: config.definitions,
        now: () => new Date(),
        namespace: await readOwnNamespace(client),
        hasSearchAttributes: await ensureSearchAttributes(connection, namespace),
        isRunning: (workflowId, executionId) => isRunning(client, workflowId, executionId),
        pageSize: 500,
      }),
    });
    await ensureSweepSchedule(client, taskQueueOf(env));
    onCheckable(checksOf(worker, databases.database, connection));
    const stop = () => worker.shutdown();
    signal?.addEventListener('abort', stop, { once: true });
    // Once each: a second Ctrl-C ends the process at once.
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
    // The parent (`backfill dev`) is gone: a worker that nobody sees must not go on writing.
    process.once('disconnect', stop);
    onReady?.();
    await worker.run().finally(() => {
      // With a listener for it, the channel to the parent would keep this process alive.
      process.off('disconnect', stop);
    });
  } finally {
    await connection.close();
  }
}

function checksOf(worker: Worker, database: Database, connection: NativeConnection): Checks {
  return {
    worker: async () => (worker.getState() === 'RUNNING' ? 'ok' : worker.getState()),
    database: async () => {
      await database.ping().catch((error: unknown) => {
        throw toBackfillError(error);
      });
      return 'ok';
    },
    temporal: async () => {
      await connection.withDeadline(Date.now() + 2000, () => connection.workflowService.getSystemInfo({}));
      return 'ok';
    },
  };
}

/** The options that every worker of ours has, also those of the tests. */
export function workerOptions(
  slots: number,
  taskQueue = TASK_QUEUE,
): Pick<
  WorkerOptions,
  | 'taskQueue'
  | 'workflowBundle'
  | 'workflowsPath'
  | 'maxConcurrentActivityTaskExecutions'
  | 'maxEagerActivityReservationsPerWorkflowTask'
  | 'shutdownGraceTime'
  | 'shutdownForceTime'
> {
  const bundle = fileURLToPath(new URL('./workflow-bundle.js', import.meta.url));
  return {
    taskQueue,
    ...(existsSync(bundle)
      ? { workflowBundle: { codePath: bundle } }
      : { workflowsPath: fileURLToPath(new URL('./workflows/index.js', import.meta.url)) }),
    // One connection each: an activity without one would wait while its time runs.
    maxConcurrentActivityTaskExecutions: slots,
    // Started with the workflow task's answer, in order, instead of over the task queue, which keeps no order.
    maxEagerActivityReservationsPerWorkflowTask: slots,
    shutdownGraceTime: '10 s',
    shutdownForceTime: '20 s',
  };
}

/** The number of type Keyword in Temporal's API. */
const KEYWORD = 2;

/**
 * Registers our search attributes in the namespace where they are missing and we may.
 * @returns whether all are there. Where they are not (Temporal Cloud), runs go on without them.
 */
export async function ensureSearchAttributes(connection: NativeConnection, namespace: string): Promise<boolean> {
  const names = Object.values(searchAttributes).map(({ name }) => name);
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = names.filter((name) => !(name in (customAttributes ?? {})));
    if (missing.length > 0) {
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
      });
    }
    return true;
  } catch {
    return false;
  }
}
