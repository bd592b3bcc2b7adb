import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writePrivateJson } from './private-json.js';
import { endProcess, type EndOptions, type ProcessRecord, recordProcess, stopProcess } from './processes.js';
import type { Stoppable } from './stop-all.js';

export interface WorkerOptions {
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** Where its pid file is kept, for whoever comes after a kill. */
  readonly folder: string;
  /** For tests. */
  readonly restartDelayMs?: number;
}

export interface SupervisedWorker extends Stoppable {
  /** Settles when a worker says for the first time that it polls. */
  readonly ready: Promise<void>;
  /** Settles, with a sentence, when the worker does not stay up. */
  readonly failed: Promise<string>;
}

/** It gets time to finish what it can. */
const POLITE: EndOptions = { signal: 'SIGTERM', graceMs: 20_000 };
/** An end sooner than this after the start is a quick failure; so many in a row, and it is given up. */
const QUICK_MS = 10_000;
const QUICK_FAILURES = 5;

/** How one worker process ended. */
interface End {
  readonly how: string;
  readonly afterMs: number;
  readonly lastLine: string;
}

/** Keeps a worker running until told to stop. */
export function superviseWorker(options: WorkerOptions): SupervisedWorker {
  const { log, folder, restartDelayMs = 1000 } = options;
  const stopped = new AbortController();
  let current: ProcessRecord | undefined;
  let isHurried = false;
  let sayReady = () => {};
  const ready = new Promise<void>((resolve) => (sayReady = resolve));

  const keepRunning = async (): Promise<string | undefined> => {
    for (let failures = 0; ;) {
      const { how, afterMs, lastLine } = await runOnce(options, {
        onStart: (record) => (current = record),
        onReady: sayReady,
      });
      if (stopped.signal.aborted) {
        if (how === 'SIGKILL' && !isHurried)
          log(`The worker did not stop within ${POLITE.graceMs / 1000} s and was killed`);
        return undefined;
      }
      failures = afterMs < QUICK_MS ? failures + 1 : 0;
      if (failures === QUICK_FAILURES) {
        return `The worker ended ${failures} times in a row soon after its start, last with ${how}: ${lastLine}`;
      }
      log(`The worker ended with ${how}; it is started again`);
      await sleep(restartDelayMs, undefined, { signal: stopped.signal }).catch(() => {});
      if (stopped.signal.aborted) return undefined;
    }
  };
  const done = keepRunning();
  const end = async (how: EndOptions) => {
    isHurried = how.signal === 'SIGKILL';
    stopped.abort();
    if (current !== undefined) await endProcess(current, how);
    await done;
    rmSync(pidFile(folder), { force: true });
  };
  return {
    ready,
    failed: new Promise((resolve) => void done.then((sentence) => sentence !== undefined && resolve(sentence))),
    stop: () => end(POLITE),
    kill: () => end({ ...POLITE, signal: 'SIGKILL' }),
  };
}

/** Stops the worker that a killed owner left. True where there was one. */
export function stopLeftoverWorker(folder: string): Promise<boolean> {
  return stopProcess(pidFile(folder), POLITE);
}

async function runOnce(
  { command, env, log, folder }: WorkerOptions,
  { onStart, onReady }: { readonly onStart: (record: ProcessRecord) => void; readonly onReady: () => void },
): Promise<End> {
  const [program, ...args] = command;
  const start = performance.now();
  // A channel, so that it notices when this process is killed ('disconnect'); a group of its own, as Ctrl-C is for this
  // process. What it prints goes to our stderr: stdout belongs to the command that started us.
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', process.stderr.fd, 'pipe', 'ipc'] });
  child.once('message', onReady);
  const ended = once(child, 'exit');
  const closed = once(child, 'close').catch(() => {});
  const lastLine = passOn(child);
  const record = child.pid === undefined ? undefined : recordProcess(child.pid);
  if (record !== undefined) {
    writePrivateJson(pidFile(folder), record);
    onStart(record);
    log(`The worker runs as process ${record.pid}`);
  }
  const how = await ended.then(
    ([code, signal]) => String(signal ?? `code ${code}`),
    (error: unknown) => String(error),
  );
  const afterMs = performance.now() - start;
  // For its last words; a process that it left behind may hold the pipe open for ever.
  await Promise.race([closed, sleep(500)]);
  return { how, afterMs, lastLine: lastLine() };
}

/** Passes the worker's words on, and returns the way to its last line. */
function passOn({ stderr }: ChildProcess): () => string {
  let tail = '';
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    tail = (tail + text).slice(-2000);
  });
  return () => tail.trim().split('\n').at(-1) ?? '';
}

function pidFile(folder: string): string {
  return join(folder, 'worker.pid');
}
