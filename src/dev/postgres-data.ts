import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { PostgresBinaries } from './postgres-binaries.js';
import type { ServerUser } from './postgres-user.js';

export const SUPERUSER = 'postgres';

export interface NewData {
  readonly folder: string;
  readonly password: string;
  /** Made along with it. */
  readonly database: string;
  readonly user: ServerUser | undefined;
  /** Wait until all is on the disk. */
  readonly durable: boolean;
}

/** Only what PostgreSQL needs: variables such as `PGOPTIONS` or `LANG` would change what the server does. */
export function postgresEnv(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}

/** Makes a data folder. It gets its name only when it is whole, so that an interrupted one is made anew. */
export async function createDataFolder({ initdb, postgres }: PostgresBinaries, data: NewData): Promise<void> {
  const half = `${data.folder}.new`;
  const passwordFile = `${data.folder}.password`;
  rmSync(half, { recursive: true, force: true });
  mkdirSync(half, { mode: 0o700 });
  writeFileSync(passwordFile, data.password, { mode: 0o600 });
  try {
    for (const path of data.user ? [half, passwordFile] : []) chownSync(path, data.user?.uid ?? 0, data.user?.gid ?? 0);
    // Locale C: the only one that is the same on every system and in every version.
    const options = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', `--username=${SUPERUSER}`];
    const sync = data.durable ? [] : ['--no-sync'];
    await run(initdb, ['-D', half, ...options, ...sync, `--pwfile=${passwordFile}`], data.user);
    // In single-user mode: no server has to be started, and no driver is needed here.
    const single = ['--single', '-D', half, '-c', 'exit_on_error=on', 'postgres'];
    await run(postgres, single, data.user, `create database "${data.database}"\n`);
    renameSync(half, data.folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
    rmSync(passwordFile, { force: true });
  }
}

export function hasDataFolder(folder: string): boolean {
  return existsSync(`${folder}/PG_VERSION`);
}

function run(command: string, args: readonly string[], user: ServerUser | undefined, input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...user, env: postgresEnv(), cwd: '/', stdio: 'pipe' });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`PostgreSQL's data folder could not be made: ${lastError(output)}`));
    });
    child.stdin.on('error', () => {}).end(input);
  });
}

function lastError(output: string): string {
  if (/No space left on device/.test(output)) return 'the disk is full; make room (60 MB) and try again';
  const lines = output.trim().split('\n');
  return lines.findLast((line) => /error|fatal|cannot|could not/i.test(line)) ?? lines.at(-1) ?? '';
}
