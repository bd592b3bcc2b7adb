import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isStillThatProcess, readPidFile } from '../../src/dev/processes.js';
import { stopLeftoverWorker, superviseWorker, type SupervisedWorker } from '../../src/dev/worker-process.js';

let folder: string;
let log: string[];
let worker: SupervisedWorker | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backfill-worker-'));
  log = [];
});

afterEach(async () => {
  await worker?.kill();
  worker = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const staysUp = 'setInterval(() => {}, 1000)';

test('a worker that is killed is started again, and the line says why', async () => {
  worker = supervise(staysUp);
  const first = await nextWorker();
  process.kill(first.pid, 'SIGKILL');
  const second = await nextWorker(first.pid);
  expect(log).toEqual([
    `The worker runs as process ${first.pid}`,
    'The worker ended with SIGKILL; it is started again',
    `The worker runs as process ${second.pid}`,
  ]);
  await worker.stop();
  expect(isStillThatProcess(second)).toBe(false);
  expect(existsSync(join(folder, 'worker.pid'))).toBe(false);
});

test('a worker is ready when it says so', async () => {
  worker = supervise(`process.send("ready"); ${staysUp}`);
  await worker.ready;
});

test('a worker that never stays up is given up, with its last words', async () => {
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  worker = supervise('console.error("There is no config file"); process.exit(2)');
  const sentence = await worker.failed;
  stderr.mockRestore();
  expect(sentence).toBe(
    'The worker ended 5 times in a row soon after its start, last with code 2: There is no config file',
  );
});

test('a program that cannot be run is given up, too', async () => {
  worker = superviseWorker({ command: ['/nonexistent'], env: {}, log: push, folder, restartDelayMs: 1 });
  expect(await worker.failed).toContain('ENOENT');
});

test('a worker notices that its supervisor was killed', async () => {
  const supervisor = spawnSupervisor('process.on("disconnect", () => process.exit())');
  const record = await nextWorker();
  supervisor.kill('SIGKILL');
  await vi.waitUntil(() => !isStillThatProcess(record), { timeout: 20_000 });
});

test('a worker that does not notice is stopped by whoever comes next', async () => {
  const supervisor = spawnSupervisor(staysUp);
  const record = await nextWorker();
  supervisor.kill('SIGKILL');
  await once(supervisor, 'exit');
  expect(isStillThatProcess(record)).toBe(true);
  expect(await stopLeftoverWorker(folder)).toBe(true);
  expect(isStillThatProcess(record)).toBe(false);
});

function supervise(script: string): SupervisedWorker {
  return superviseWorker({ command: [process.execPath, '-e', script], env: {}, log: push, folder, restartDelayMs: 1 });
}

function push(line: string): void {
  log.push(line);
}

/** The one running, other than that of a known pid. */
function nextWorker(not?: number) {
  return vi.waitUntil(
    () => {
      const record = readPidFile(join(folder, 'worker.pid'));
      return record !== undefined && record.pid !== not ? record : undefined;
    },
    { timeout: 20_000 },
  );
}

/** In a process of its own, to be killed. */
function spawnSupervisor(script: string): ChildProcess {
  const jiti = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url));
  const main = fileURLToPath(new URL('../support/run-supervisor.ts', import.meta.url));
  return spawn(process.execPath, [jiti, main, folder, script], { stdio: 'inherit' });
}
