import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPidFile } from '../src/dev/processes.js';
import { readState } from '../src/dev/state.js';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CONFIG = fileURLToPath(new URL('size.config.ts', import.meta.url));

export interface SizeStack {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** For `backfill` commands. */
  readonly env: NodeJS.ProcessEnv;
  /** The most memory that the worker had so far, in MB. */
  workerPeakMb(): number;
  stop(): Promise<void>;
}

/** `backfill dev` in a folder of its own. It ends with this process, also by a kill -9: an IPC channel connects them. */
export async function startStack(connections: number): Promise<SizeStack> {
  const cwd = mkdtempSync(join(tmpdir(), 'backfill-size-'));
  // Root's PostgreSQL runs under another user, who has to pass through.
  chmodSync(cwd, 0o711);
  const env = { ...process.env, BACKFILL_CONFIG: CONFIG, BACKFILL_POOL_SIZE: String(connections) };
  const child = spawn(process.execPath, [CLI, 'dev', '--json'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout ?? child, 'data'), ended]);
  const folder = join(cwd, '.backfill');
  const state = readState(folder);
  const worker = readPidFile(join(folder, 'worker.pid'));
  if (!state || !worker) throw new Error('The servers did not start; the line above says why');
  const { databaseUrl, temporalAddress } = state;
  return {
    databaseUrl,
    temporalAddress,
    env: { ...process.env, TEMPORAL_ADDRESS: temporalAddress },
    workerPeakMb: () => peakMb(worker.pid),
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}

function peakMb(pid: number): number {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(line?.[1]) / 1024);
}

/** A `backfill` command, from its start to its end, in milliseconds. */
export async function timeCommand(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`backfill ${args.join(' ')} ended with ${code}`);
  return performance.now() - start;
}
