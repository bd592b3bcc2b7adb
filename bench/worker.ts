import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TASK_QUEUE } from '../src/contract.js';
import type { Servers } from './servers.js';

/** A worker in a process of its own, as it runs in production. */
export interface BenchWorker {
  /** The most memory that it has had, in MiB; null where the system does not tell (`/proc`). */
  peakMiB(): number | null;
  stop(): Promise<void>;
}

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CONFIG = fileURLToPath(new URL('backfill.config.ts', import.meta.url));

/** Returns when Temporal knows that it polls. */
export async function startWorker(
  servers: Servers,
  { databaseUrl, slots }: { readonly databaseUrl: string; readonly slots: number },
): Promise<BenchWorker> {
  const env = {
    ...process.env,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: servers.temporal.options.namespace,
    DATABASE_URL: databaseUrl,
    BACKFILL_CONFIG: CONFIG,
    BACKFILL_POOL_SIZE: String(slots),
  };
  // The channel ends it where this process is gone.
  const child = spawn(process.execPath, [CLI, 'worker'], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  while (!(await isPolling(servers, child.pid))) {
    if (child.exitCode !== null) throw new Error('The worker did not start; npm run build makes what it runs');
    await sleep(50);
  }
  return {
    peakMiB: () => peakOf(child.pid),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function isPolling({ temporal }: Servers, pid: number | undefined): Promise<boolean> {
  const { namespace } = temporal.options;
  const { pollers } = await temporal.workflowService.describeTaskQueue({ namespace, taskQueue: { name: TASK_QUEUE } });
  return pollers.some(({ identity }) => identity?.startsWith(`${pid}@`));
}

function peakOf(pid: number | undefined): number | null {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? null : Number(kib) / 1024;
  } catch {
    return null;
  }
}
