import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { taskQueueOf } from '../../src/contract.js';
import { BACKFILL_CLI } from './commands.js';
import type { Harness } from './harness.js';

/** A worker that is a process of its own, with settings that a worker in the test's process cannot have. */
export interface WorkerChild {
  readonly pid: number;
  /** What it has logged so far. */
  log(): string;
  stop(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** How it ended: `SIGKILL`, or `code 0`. */
  readonly ended: Promise<string>;
}

export interface WorkerChildOptions {
  /** Path of the config file. */
  readonly config: string;
  /** On top of the harness's. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts `backfill worker`, and waits until Temporal knows that it polls. */
export async function startWorkerChild(harness: Harness, options: WorkerChildOptions): Promise<WorkerChild> {
  const env = { ...harness.env, BACKFILL_CONFIG: options.config, ...options.env };
  const child = spawn(process.execPath, [BACKFILL_CLI, 'worker'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (data: Buffer) => (log += data.toString()));
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? `code ${code}`));
  const { pid } = child;
  if (pid === undefined) throw new Error('The worker could not be started');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  while (!(await isPolling(harness, taskQueueOf(env), pid))) {
    if (child.exitCode !== null) throw new Error(`The worker ended with ${child.exitCode}: ${log}`);
    await sleep(100);
  }
  return { pid, log: () => log, stop, signal: (signal) => void child.kill(signal), ended };
}

async function isPolling({ temporal, namespace }: Harness, name: string, pid: number): Promise<boolean> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({ namespace, taskQueue: { name } });
  return pollers.some(({ identity }) => identity?.startsWith(`${pid}@`));
}
