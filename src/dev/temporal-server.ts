import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { choosePorts, HOST } from './ports.js';
import { readPrivateJson, writePrivateJson } from './private-json.js';
import { type EndOptions, stopProcess } from './processes.js';
import { type ServerProcess, ServerStartError, startServerProcess } from './server-process.js';

export interface TemporalOptions {
  /** The CLI's path. */
  readonly cli: string;
  /** Holds log and pid file, and the database where there is one. */
  readonly folder: string;
  /** False: in memory, gone with the server. */
  readonly durable: boolean;
}

export interface TemporalServer extends ServerProcess {
  readonly address: string;
  readonly uiUrl: string;
}

/** The same ports again, so that links and other programs' settings outlive a restart. */
interface Ports {
  readonly grpc: number;
  readonly ui: number;
}

const POLITE: EndOptions = { signal: 'SIGTERM', graceMs: 15_000 };

/** Starts the development server of the CLI. Everything it opens listens on 127.0.0.1 (seen with CLI 1.9.1). */
export async function startTemporalServer({ cli, folder, durable }: TemporalOptions): Promise<TemporalServer> {
  const path = resolve(folder);
  mkdirSync(path, { recursive: true });
  const database = durable ? join(path, 'temporal.db') : undefined;
  const isNew = database === undefined || !existsSync(database);
  const [grpc, ui, http, metrics] = await choosePortsFor(join(path, 'temporal.json'));
  const address = `${HOST}:${grpc}`;
  try {
    const server = await startServerProcess({
      name: 'Temporal',
      command: cli,
      args: serverArgs({ grpc, ui, http, metrics, database }),
      env: temporalEnv(path),
      pidFile: pidFile(path),
      logFile: join(path, 'temporal.log'),
      stop: POLITE,
      killSignal: 'SIGKILL',
      isReady: () => isServing(cli, path, grpc),
    });
    return { ...server, address, uiUrl: `http://${HOST}:${ui}` };
  } catch (error) {
    throw isNew || !(error instanceof ServerStartError) ? error : foreignDatabase(database, error);
  }
}

/** Stops the server that a killed owner left. True where there was one. */
export function stopLeftoverTemporal(folder: string): Promise<boolean> {
  return stopProcess(pidFile(folder), POLITE);
}

/**
 * Our environment without what it says of Temporal: a profile for a cluster in the cloud would make the CLI, or a
 * worker, speak TLS to this server, and hand it the key of the other. The files named are not there, which is allowed.
 */
export function temporalEnv(folder: string, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const others = Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  const none = {
    TEMPORAL_CONFIG_FILE: join(folder, 'temporal.toml'),
    TEMPORAL_ENV_FILE: join(folder, 'temporal.yaml'),
  };
  return { ...Object.fromEntries(others), ...none };
}

function pidFile(folder: string): string {
  return join(folder, 'temporal.pid');
}

async function choosePortsFor(file: string): Promise<[number, number, number, number]> {
  const known = readPrivateJson<Ports>(file);
  const [grpc = 0, ui = 0, http = 0, metrics = 0] = await choosePorts([known?.grpc, known?.ui, undefined, undefined]);
  writePrivateJson(file, { grpc, ui } satisfies Ports);
  return [grpc, ui, http, metrics];
}

interface ServerSettings {
  readonly grpc: number;
  readonly ui: number;
  readonly http: number;
  readonly metrics: number;
  readonly database: string | undefined;
}

function serverArgs({ grpc, ui, http, metrics, database }: ServerSettings): string[] {
  const ports = ['--port', grpc, '--ui-port', ui, '--http-port', http, '--metrics-port', metrics].map(String);
  // A write-ahead log brings a file nearly to the speed of memory (12 instead of 18 ms an activity, four at a time).
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];
  // By default tasks are dispatched at most 20 times a second, all workflows together: 50 ms for each step of a run.
  const dispatch = ['--dynamic-config-value', 'history.transferProcessorMaxPollRPS=1000'];
  const storage = database === undefined ? [] : ['--db-filename', database, ...pragmas];
  return ['server', 'start-dev', '--ip', HOST, ...ports, ...storage, ...dispatch, '--log-level', 'warn'];
}

/** The CLI is asked only when someone listens: its start costs 0.1 s. */
async function isServing(cli: string, folder: string, port: number): Promise<boolean> {
  if (!(await accepts(port))) return false;
  try {
    const args = ['operator', 'cluster', 'health', '--address', `${HOST}:${port}`];
    const { stdout } = await promisify(execFile)(cli, args, { env: temporalEnv(folder), timeout: 10_000 });
    return stdout.includes('SERVING');
  } catch {
    return false;
  }
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

function foreignDatabase(database: string | undefined, error: ServerStartError): Error {
  const remedy = `if another version of its CLI wrote ${database}, delete that file (the runs in it are lost) and start again`;
  return new Error(`${error.message}; ${remedy}`, { cause: error });
}
