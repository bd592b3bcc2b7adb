import { accessSync, chownSync, constants, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { choosePorts, HOST } from '../../src/dev/ports.js';
import { chooseServerUser } from '../../src/dev/postgres-user.js';
import { startServerProcess } from '../../src/dev/server-process.js';
import type { ServerFolder } from './own-servers.js';

/** A pooler in transaction mode before a server. */
export interface PgBouncer {
  /** The same database by way of the pooler. */
  url(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** Undefined where there is none on this machine. */
export function findPgBouncer(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param sessions of the server that it may have, for each database */
export async function startPgBouncer(
  program: string,
  { path }: ServerFolder,
  { upstream, sessions }: { readonly upstream: string; readonly sessions: number },
): Promise<PgBouncer> {
  const { port, username, password } = new URL(upstream);
  const [listenPort = 0] = await choosePorts([undefined]);
  const user = chooseServerUser(path);
  const file = (name: string, text: string): string => {
    const full = join(path, `${listenPort}-${name}`);
    writeFileSync(full, text, { mode: 0o600 });
    if (user) chownSync(full, user.uid, user.gid);
    return full;
  };
  const users = file('users.txt', `"${username}" "${password}"\n`);
  const settings = [
    `listen_addr = ${HOST}`,
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    `default_pool_size = ${sessions}`,
  ];
  const ini = file(
    'pgbouncer.ini',
    `[databases]\n* = host=${HOST} port=${port}\n[pgbouncer]\n${settings.join('\n')}\n`,
  );
  const server = await startServerProcess({
    name: 'PgBouncer',
    command: program,
    args: [ini],
    env: { PATH: process.env['PATH'] },
    user,
    pidFile: join(path, `${listenPort}-pgbouncer.pid`),
    logFile: join(path, `${listenPort}-pgbouncer.log`),
    stop: { signal: 'SIGTERM', graceMs: 10_000 },
    killSignal: 'SIGKILL',
    isReady: () => accepts(listenPort),
  });
  return {
    url(databaseUrl) {
      const url = new URL(databaseUrl);
      url.port = String(listenPort);
      return url.href;
    },
    stop: () => server.stop(),
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    const answer = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}
