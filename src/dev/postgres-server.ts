import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.js';
import { createDataFolder, hasDataFolder, postgresEnv, SUPERUSER } from './postgres-data.js';
import { checkReach, chooseServerUser } from './postgres-user.js';
import { choosePorts, HOST } from './ports.js';
import { readPrivateJson, writePrivateJson } from './private-json.js';
import { type EndOptions, stopProcess } from './processes.js';
import { type ServerProcess, startServerProcess } from './server-process.js';

export interface PostgresOptions {
  /** Holds data, log and pid file. */
  readonly folder: string;
  /** Made with a new data folder. */
  readonly database: string;
  /** `name=value`, as for `postgres -c`. */
  readonly settings?: readonly string[];
  readonly binaries?: PostgresBinaries;
}

export interface PostgresServer extends ServerProcess {
  readonly port: number;
  /** Of the superuser, for the database made with the data folder or another. Holds the password. */
  url(database?: string): string;
}

/** What the data folder needs to be opened again as it was. */
interface Access {
  readonly port: number;
  readonly password: string;
}

/** Fast shutdown: rolls back what is open. The grace is for the last checkpoint. */
const FAST: EndOptions = { signal: 'SIGINT', graceMs: 60_000 };

/** Starts PostgreSQL on 127.0.0.1, with the data of the folder or new ones. */
export async function startPostgresServer(options: PostgresOptions): Promise<PostgresServer> {
  const { database, settings = [], binaries = await findPostgresBinaries() } = options;
  const folder = makeFolder(options.folder);
  const data = join(folder, 'postgres');
  const user = chooseServerUser(data);
  checkReach(user, data, 'its data folder');
  checkReach(user, binaries.postgres, 'its program');

  const access = await chooseAccess(join(folder, 'postgres.json'), data);
  if (!hasDataFolder(data)) {
    const durable = !settings.includes('fsync=off');
    await createDataFolder(binaries, { folder: data, password: access.password, database, user, durable });
  }
  const server = await startServerProcess({
    name: 'PostgreSQL',
    command: binaries.postgres,
    args: ['-D', data, ...[...ownSettings(access.port), ...settings].flatMap((setting) => ['-c', setting])],
    env: postgresEnv(),
    user,
    pidFile: pidFile(folder),
    logFile: join(folder, 'postgres.log'),
    stop: FAST,
    killSignal: 'SIGQUIT',
    isReady: (pid) => isReady(data, pid),
  });
  const origin = `postgresql://${SUPERUSER}:${access.password}@${HOST}:${access.port}`;
  return { ...server, port: access.port, url: (name = database) => `${origin}/${encodeURIComponent(name)}` };
}

/** Stops the server that a killed owner left. True where there was one. */
export function stopLeftoverPostgres(folder: string): Promise<boolean> {
  return stopProcess(pidFile(folder), FAST);
}

/** Written before the data are made: data whose password is lost are lost, too. */
async function chooseAccess(file: string, data: string): Promise<Access> {
  const known = readPrivateJson<Access>(file);
  if (known === undefined && hasDataFolder(data)) {
    throw new Error(
      `The password of ${data} is gone with ${file}; put that file back, or delete both (the data are lost)`,
    );
  }
  const [port = 0] = await choosePorts([known?.port]);
  const access = { port, password: known?.password ?? randomBytes(24).toString('base64url') };
  writePrivateJson(file, access);
  return access;
}

function pidFile(folder: string): string {
  return join(folder, 'postgres.pid');
}

function ownSettings(port: number): string[] {
  // No socket file: its path would be too long in a deep folder, and TCP is enough.
  return [`listen_addresses=${HOST}`, `port=${port}`, 'unix_socket_directories=', 'TimeZone=UTC', 'log_timezone=UTC'];
}

/** Open to pass through for the user under which the server runs when we are root, and to list for nobody else. */
function makeFolder(folder: string): string {
  const path = resolve(folder);
  mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  return path;
}

/** What `pg_ctl --wait` looks at: the eighth line of the lock file, which the server writes itself. */
function isReady(data: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}
