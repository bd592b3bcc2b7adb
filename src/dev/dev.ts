import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configFile, ledgerSchema } from '../config/environment.js';
import { loadConfig } from '../config/load.js';
import { migrateLedger } from '../postgres/migrate.js';
import { type Stack, startStack, stopLeftovers } from './stack.js';
import { DEFAULT_FOLDER, removeState, writeState } from './state.js';
import { stopAll, type Stoppable } from './stop-all.js';
import { waitForEnd } from './end-signals.js';
import { temporalEnv } from './temporal-server.js';
import { superviseWorker, type SupervisedWorker } from './worker-process.js';

export interface DevOptions {
  readonly folder?: string;
  /** What the worker gets, besides the addresses. */
  readonly env?: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** False where there is no config file, so that a worker would have nothing to do. */
  readonly worker?: boolean;
  /** Called once all runs; when it throws, all is stopped. */
  readonly onReady?: (stack: Stack) => void | Promise<void>;
}

/**
 * Runs servers and worker until this process is told to end (SIGINT, SIGTERM, SIGHUP, or its parent is gone), then stops
 * them. Returns the exit code: 0, or 1 when a server or the worker did not stay up.
 * @throws {Error} something does not start; nothing is left running
 */
export async function runDev(options: DevOptions): Promise<number> {
  const { log, env = process.env } = options;
  const end = waitForEnd();
  const running: Stoppable[] = [];
  end.onSecond(async () => {
    log('Killing all at once');
    await stopAll(running, 'kill').catch(() => {});
    // What was still starting.
    await stopLeftovers(options.folder ?? DEFAULT_FOLDER, () => {}).catch(() => {});
    process.exit(130);
  });
  try {
    const stack = await startStack(options);
    running.push(stack);
    const schema = await schemaOf(env, options.worker !== false);
    await migrateLedger({ databaseUrl: stack.databaseUrl, ...(schema === undefined ? {} : { schema }) });
    writeState(stack.folder, stack);
    const worker = options.worker === false ? undefined : startWorker(stack, { env, log });
    if (worker !== undefined) running.push(worker);
    const ended = Promise.race([end.first, stack.failed, ...(worker ? [worker.failed] : [])]);
    const isReady = await Promise.race([
      ended.then(() => false),
      (worker?.ready ?? Promise.resolve()).then(() => true),
    ]);
    if (isReady) {
      printLinks(stack, log);
      await options.onReady?.(stack);
    }
    const problem = await ended;
    if (problem !== undefined) log(problem);
    log('Stopping …');
    // First, so that nothing is sent here any more, and whoever starts next knows that we are leaving.
    removeState(stack.folder);
    return problem === undefined ? 0 : 1;
  } finally {
    await stopAll(running).finally(() => end.dispose());
  }
}

/** What is wrong with the config file the worker says. */
async function schemaOf(env: NodeJS.ProcessEnv, hasConfig: boolean): Promise<string | undefined> {
  const config = hasConfig ? await loadConfig(configFile(env)).catch(() => undefined) : undefined;
  return ledgerSchema(env, config);
}

function printLinks({ folder, temporalAddress, uiUrl, databaseUrl }: Stack, log: DevOptions['log']): void {
  const { host, pathname } = new URL(databaseUrl);
  log(`Temporal Web UI  ${uiUrl}`);
  log(`Temporal         ${temporalAddress}`);
  log(`PostgreSQL       ${host}${pathname} (password: ${join(relative('', folder), 'state.json')})`);
}

/**
 * Node lets garbage grow with the memory of the machine: planning 100,000 partitions came to 900 MB, and with this to 385.
 * First, so that one of the caller's own counts.
 */
const BOUNDED_HEAP = '--max-old-space-size=512';

function startWorker(stack: Stack, { env, log }: { env: NodeJS.ProcessEnv; log: DevOptions['log'] }): SupervisedWorker {
  const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
  const { folder, temporalAddress, databaseUrl } = stack;
  const own = {
    TEMPORAL_ADDRESS: temporalAddress,
    DATABASE_URL: databaseUrl,
    TZ: 'UTC',
    NODE_OPTIONS: [BOUNDED_HEAP, env['NODE_OPTIONS']].join(' ').trim(),
  };
  return superviseWorker({
    command: [process.execPath, main, 'worker'],
    env: { ...temporalEnv(folder, env), ...own },
    log,
    folder,
  });
}
