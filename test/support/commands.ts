import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

/** How a command ended. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The compiled `backfill` command: `npm test` builds it before the first test. */
export const BACKFILL_CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Before the test's own time is over: after that nobody would end the program any more. */
const TIMEOUT_MS = 100_000;

/** Runs a program to its end, whatever its exit code. */
export function runProgram(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { env, maxBuffer: 64 * 1024 * 1024, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : error.code;
      // A number is an exit code; anything else says that it did not run, or was killed.
      if (typeof exitCode === 'number') resolve({ exitCode, stdout, stderr });
      else reject(error instanceof Error ? error : new Error(`${file} did not end by itself`));
    });
  });
}

export function runBackfill(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ended> {
  return runProgram(process.execPath, [BACKFILL_CLI, ...args], env);
}

export function runTemporal(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ended> {
  return runProgram(inject('temporalCli'), args, env);
}
