import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { writePrivateJson } from './private-json.js';
import { type EndOptions, endProcess, readPidFile, recordProcess } from './processes.js';
import type { Stoppable } from './stop-all.js';

export interface ServerCommand {
  /** For people: `PostgreSQL`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly pidFile: string;
  readonly logFile: string;
  readonly stop: EndOptions;
  /** How it ends at once, whatever is lost. */
  readonly killSignal: NodeJS.Signals;
  /** Asked again and again until it says yes. */
  isReady(pid: number): Promise<boolean> | boolean;
}

export interface ServerProcess extends Stoppable {
  readonly pid: number;
  /** Settles, with a sentence, when the server ends without having been asked to. */
  readonly failed: Promise<string>;
}

/** The server did not come up. `log` is what it wrote. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';
  readonly log: string;
  constructor(message: string, log = '') {
    super(message);
    this.log = log;
  }
}

const START_TIMEOUT_MS = 60_000;

/** Starts a server in a process group of its own: Ctrl-C is for its owner, who stops things in the right order. */
export async function startServerProcess(server: ServerCommand): Promise<ServerProcess> {
  const child = spawnServer(server);
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? `code ${code}`));
  // Without this, an `error` (no such program, no right to run it) would end this process.
  ended.catch(() => {});
  if (child.pid === undefined) {
    const reason = await ended.catch((error: unknown) => error);
    throw new ServerStartError(`${server.name} cannot be run (${String(reason)})`);
  }
  const record = recordProcess(child.pid);
  if (record !== undefined) writePrivateJson(server.pidFile, record);
  child.unref();

  let stopping: Promise<unknown> | undefined;
  const end = async (options: EndOptions) => {
    if (record !== undefined) await endProcess(record, options);
    // By now the file may be that of the next owner's server.
    if (readPidFile(server.pidFile)?.identity === record?.identity) rmSync(server.pidFile, { force: true });
  };
  const running: ServerProcess = {
    pid: child.pid,
    failed: new Promise((resolve) => {
      const tell = (how: string) => {
        if (stopping === undefined) resolve(`${server.name} ended unexpectedly (${how}); its log is ${server.logFile}`);
      };
      ended.then(tell, () => {});
    }),
    async stop() {
      await (stopping ??= end(server.stop));
    },
    async kill() {
      await (stopping = end({ ...server.stop, signal: server.killSignal }));
    },
  };
  try {
    await waitUntilReady(server, child.pid, ended);
  } catch (error) {
    await running.kill();
    throw error;
  }
  return running;
}

function spawnServer({ command, args, env, user, logFile }: ServerCommand) {
  keepPrevious(logFile);
  const log = openSync(logFile, 'w', 0o600);
  try {
    return spawn(command, args, { env, ...user, cwd: '/', detached: true, stdio: ['ignore', log, log] });
  } finally {
    closeSync(log);
  }
}

async function waitUntilReady(server: ServerCommand, pid: number, ended: Promise<string>): Promise<void> {
  const end = performance.now() + START_TIMEOUT_MS;
  let how: string | undefined;
  ended.then(
    (text) => (how = text),
    () => {},
  );
  while (!(await server.isReady(pid))) {
    const problem = how ?? (performance.now() > end ? `no answer within ${START_TIMEOUT_MS / 1000} s` : undefined);
    if (problem !== undefined) {
      const log = readFileSync(server.logFile, 'utf8');
      const last = log.trim().split('\n').at(-1) ?? '';
      throw new ServerStartError(
        `${server.name} did not start (${problem}): ${last} (its log is ${server.logFile})`,
        log,
      );
    }
    await sleep(25);
  }
}

/** One earlier log is kept: it may tell why the server ended. */
function keepPrevious(logFile: string): void {
  try {
    renameSync(logFile, `${logFile}.1`);
  } catch {
    // The first start.
  }
}
