import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPrivateJson } from './private-json.js';

/** Enough to know a process again from another one, also after its pid was given to a stranger. */
export interface ProcessRecord {
  readonly pid: number;
  /** When it started, in the system's own spelling: no two processes share both pid and identity. */
  readonly identity: string;
  /** For people. */
  readonly command: string;
}

export interface EndOptions {
  readonly signal: NodeJS.Signals;
  /** After that: SIGKILL. */
  readonly graceMs: number;
}

/** Undefined where no such process runs. */
export function recordProcess(pid: number): ProcessRecord | undefined {
  return process.platform === 'linux' ? readProc(pid) : readPs(pid);
}

/**
 * The command is not compared: a start script replaces itself by the program, and programs rename themselves. The start
 * time stays, and is fine enough (10 ms on Linux) for a reused pid to differ.
 */
export function isStillThatProcess({ pid, identity }: ProcessRecord): boolean {
  return recordProcess(pid)?.identity === identity;
}

/** Ends that process and no other one; one that is gone is left in peace. True where it was there. */
export async function endProcess(record: ProcessRecord, { signal, graceMs }: EndOptions): Promise<boolean> {
  if (!isStillThatProcess(record)) return false;
  send(record, signal);
  if (await hasEnded(record, graceMs)) return true;
  send(record, 'SIGKILL');
  if (await hasEnded(record, 10_000)) return true;
  throw new Error(`Process ${record.pid} (${record.command}) does not end; stop it by hand`);
}

/** As {@link endProcess}, of the process that a file names. The file is removed. */
export async function stopProcess(pidFile: string, options: EndOptions): Promise<boolean> {
  const record = readPidFile(pidFile);
  const wasThere = record !== undefined && (await endProcess(record, options));
  rmSync(pidFile, { force: true });
  return wasThere;
}

export function readPidFile(pidFile: string): ProcessRecord | undefined {
  const record = readPrivateJson<ProcessRecord>(pidFile);
  return isProcessRecord(record) ? record : undefined;
}

function isProcessRecord(value: ProcessRecord | undefined): value is ProcessRecord {
  const { pid, identity }: Partial<ProcessRecord> = value ?? {};
  return Number.isInteger(pid) && typeof identity === 'string';
}

function send({ pid, command }: ProcessRecord, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended by itself meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw new Error(`Process ${pid} (${command}) belongs to another user; stop it as that user`, { cause: error });
  }
}

async function hasEnded(record: ProcessRecord, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (isStillThatProcess(record)) {
    if (performance.now() >= end) return false;
    await sleep(25);
  }
  return true;
}

function readProc(pid: number): ProcessRecord | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, and may itself hold blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, threads, startTicks] = [fields[0], Number(fields[17]), fields[19]];
    if (state === undefined || startTicks === undefined) return undefined;
    // A zombie has ended; in a container, nobody may ever collect it. But a killed program's first thread may be one
    // while others, and with them its port, are still there.
    if ('ZX'.includes(state) && threads <= 1) return undefined;
    // Ticks count from the boot, and so does the next boot's clock.
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, identity: `${boot} ${startTicks}`, command };
  } catch {
    return undefined;
  }
}

function readPs(pid: number): ProcessRecord | undefined {
  try {
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    const args = ['-p', String(pid), '-o', 'stat=,lstart=,command='];
    const line = execFileSync('ps', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [, state, started, command] = /^(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)/.exec(line.trim()) ?? [];
    if (state === undefined || started === undefined || state.startsWith('Z')) return undefined;
    return { pid, identity: started, command: command ?? '' };
  } catch {
    return undefined;
  }
}
