/**
 * The worker process: environment → connections → worker → run → drain.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from './activities/index.js';
import { isRunning } from './activities/is-running.js';
import { ConfigError } from './config/errors.js';
import { type Config, DEFAULT_CONFIG_FILE, loadConfig } from './config/load.js';
import { TASK_QUEUE, searchAttributes } from './contract.js';
import { readState } from './dev/state.js';
import { installLogger, shutDownRuntime } from './observability.js';
import { type Database, openDatabase } from './postgres/database.js';
import { demandLedger } from './postgres/migrate.js';
import { toBackfillError } from './postgres/sqlstate.js';
import { inTransaction } from './postgres/transaction.js';

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
 * @throws {ConfigError} the config file or an environment variable
 * @throws {BackfillError} LedgerOutdated
 */
export async function runWorker({
  configPath,
  env = process.env,
  onReady,
  signal,
}: WorkerProcessOptions = {}): Promise<void> {
  // Temporal's sandbox sees the process's time zone.
  process.env['TZ'] = 'UTC';
  installLogger(env['BACKFILL_LOG_LEVEL']);
  // Whoever reads it may be killed, and a worker must drain all the same.
  process.stderr.on('error', () => {});
  try {
    await connectAndServe({ configPath, env, onReady, signal });
  } finally {
    await shutDownRuntime();
  }
}

async function connectAndServe({
  configPath,
  env = process.env,
  onReady,
  signal,
}: WorkerProcessOptions): Promise<void> {
  const config = await loadConfig(configPath ?? (env['BACKFILL_CONFIG'] || DEFAULT_CONFIG_FILE));
  const size = poolSize(env['BACKFILL_POOL_SIZE']);
  const database = openDatabase({ url: databaseUrl(config, env), size });
  try {
    const timeouts = { attemptMs: 10_000, lockMs: 5_000 };
    await inTransaction(database, { applicationName: 'backfill worker', timeouts }, demandLedger).catch((error) => {
      throw toBackfillError(error);
    });
    await serve(config, database, { size, env, onReady, signal });
  } finally {
    await database.close();
  }
}

interface ServeOptions {
  readonly size: number;
  readonly env: NodeJS.ProcessEnv;
  readonly onReady: (() => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

async function serve(config: Config, database: Database, { size, env, onReady, signal }: ServeOptions): Promise<void> {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: temporalEnv(env),
  });
  const connection = await NativeConnection.connect(connectionOptions);
  try {
    const client = new Client({ connection, namespace });
    const worker = await Worker.create({
      ...workerOptions(size),
      connection,
      namespace,
      activities: createActivities({
        database,
        definitions: config.definitions,
        now: () => new Date(),
        hasSearchAttributes: await ensureSearchAttributes(connection, namespace),
        isRunning: (workflowId, executionId) => isRunning(client, workflowId, executionId),
        pageSize: 500,
      }),
    });
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

/** The options that every worker of ours has, also those of the tests. */
export function workerOptions(
  slots: number,
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
    taskQueue: TASK_QUEUE,
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

function databaseUrl(config: Config, env: NodeJS.ProcessEnv): string {
  const url = config.databaseUrl ?? env['DATABASE_URL'] ?? readState('.backfill')?.databaseUrl;
  if (url === undefined) {
    throw new ConfigError(
      'No database is named: set DATABASE_URL, or database.url in the config file, or run "backfill dev"',
    );
  }
  // The parser's own error carries the whole URL, password included.
  if (!URL.canParse(url))
    throw new ConfigError('The database URL is malformed; it must look like postgres://user:password@host:5432/name');
  return url;
}

function poolSize(text: string | undefined): number {
  const size = Number(text ?? 10);
  if (Number.isInteger(size) && size >= 1 && size <= 1000) return size;
  throw new ConfigError(`BACKFILL_POOL_SIZE is ${JSON.stringify(text)}; expected a whole number from 1 to 1000`);
}

/** The environment's own settings first, then the embedded stack that runs in this folder. */
function temporalEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const given = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[0].startsWith('TEMPORAL_') && entry[1] !== undefined,
  );
  const state = given.some(([name]) => name === 'TEMPORAL_ADDRESS' || name === 'TEMPORAL_PROFILE')
    ? undefined
    : readState('.backfill');
  return { ...(state ? { TEMPORAL_ADDRESS: state.temporalAddress } : {}), ...Object.fromEntries(given) };
}
