import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { isStillThatProcess, readPidFile } from '../../src/dev/processes.js';
import { readState } from '../../src/dev/state.js';
import { until } from './wait.js';

const JITI = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../../examples/revenue/start.ts', import.meta.url));

const CLEAR_LINE = '\r\u001b[2K';

/** A running `npm start`. */
export interface Demo {
  /** What it has printed so far, stdout and stderr in their order, without control characters. */
  output(): string;
  /** Waits until it has printed that. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
  /** As keys in its terminal. */
  type(keys: string): void;
  /** How it ended: `SIGKILL`, or `code 0`. */
  readonly ended: Promise<string>;
}

export interface DemoOptions {
  /** Where `.backfill` is. */
  readonly folder: string;
  readonly args?: readonly string[];
}

/** Its output goes to a file or a pipe. The process is that of `start.ts` itself. */
export function startDemo({ folder, args = [] }: DemoOptions): Demo {
  return watch(spawn('sh', ['-c', `exec "$@" 2>&1`, 'sh', ...command(args)], options(folder)));
}

/** In a terminal of its own. A signal goes to that terminal: SIGKILL closes its window. */
export function startDemoInTerminal({ folder, args = [] }: DemoOptions): Demo {
  const typed = `exec ${command(args)
    .map((word) => `'${word}'`)
    .join(' ')}`;
  const script = process.platform === 'linux' ? ['-qec', typed, '/dev/null'] : ['-q', '/dev/null', 'sh', '-c', typed];
  return watch(spawn('script', script, options(folder)));
}

function command(args: readonly string[]): [string, ...string[]] {
  return [process.execPath, JITI, SCRIPT, ...args];
}

/** PWD marks all that come from it, by which they are found: see {@link processesOf}. */
function options(folder: string) {
  return { cwd: folder, env: { ...process.env, PWD: folder }, stdio: 'pipe' } as const;
}

function watch(child: ChildProcess): Demo {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const closed = once(child, 'close');
  const ended = once(child, 'exit').then(async ([code, signal]) => {
    // For the last words. What a killed one leaves behind holds the pipe open.
    await Promise.race([closed, sleep(500)]);
    return String(signal ?? `code ${code}`);
  });
  let how: string | undefined;
  ended.then(
    (end) => (how = end),
    (error: unknown) => (how = String(error)),
  );
  // A terminal ends lines with \r\n; what is drawn over a line becomes a line of its own.
  const output = () => text.replaceAll('\r\n', '\n').replaceAll(`\n${CLEAR_LINE}`, '\n').replaceAll(CLEAR_LINE, '\n');
  return {
    output,
    ended,
    signal: (signal) => void child.kill(signal),
    type: (keys) => void child.stdin?.write(keys),
    printed: (pattern) =>
      until(`${pattern}`, () => {
        const found = pattern.exec(output());
        if (found === null && how !== undefined)
          throw new Error(`It ended with ${how} before ${pattern}:\n${output()}`);
        return found;
      }),
  };
}

/** Everything that runs for the demo of that folder: itself, servers, worker, commands. Empty lists say that all ended. */
export function processesOf(folder: string): string[] {
  const state = join(folder, '.backfill');
  const files = ['owner', 'worker', 'temporal', 'postgres'].map((name) => readPidFile(join(state, `${name}.pid`)));
  const recorded = files.flatMap((record) => (record && isStillThatProcess(record) ? [record.pid] : []));
  return [...new Set([...recorded, ...marked(folder)])].map((pid) => `${pid} ${readProc(pid, 'cmdline')}`);
}

/** Linux alone lets us look into the environment of others. */
function marked(folder: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .map(Number)
    .filter(
      (pid) => `${readProc(pid, 'environ')} `.includes(`PWD=${folder} `) || readProc(pid, 'cmdline').includes(folder),
    );
}

function readProc(pid: number, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    // It has ended.
    return '';
  }
}

/** Asks the demo's database, which must be up. */
export async function queryDemo<T extends pg.QueryResultRow>(
  folder: string,
  text: string,
  values: unknown[] = [],
): Promise<T[]> {
  const client = new pg.Client({ connectionString: readState(join(folder, '.backfill'))?.databaseUrl });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}
