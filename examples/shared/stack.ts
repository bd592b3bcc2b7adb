import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface StackOptions {
  /** The config file of the example. */
  readonly config: URL;
  /** Where it keeps its `.backfill`: two examples that run at once need two. */
  readonly folder: string;
  /** What the config file reads, besides the database's address. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The embedded servers and the worker, run by `backfill dev` in a process of its own. */
export interface RunningStack {
  readonly temporalAddress: string;
  readonly uiUrl: string;
  /** Holds the password; never printed. */
  readonly databaseUrl: string;
  /** The Temporal CLI that runs the server. */
  readonly temporalCli: string;
  /** Runs a `backfill` command against it, with this terminal. Returns its exit code. */
  backfill(...args: string[]): Promise<number>;
  /** Settles with the exit code when it ends. */
  readonly ended: Promise<number>;
  /** Whether this process was told to end: Ctrl-C, SIGTERM, SIGHUP. */
  isEnding(): boolean;
  stop(): Promise<void>;
}

/**
 * Starts it and waits until it is ready. It ends when this process does, even by a kill -9: the two are connected by an
 * IPC channel.
 */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const cwd = options.folder;
  const env = ownEnv(options);
  // Its lines go to stderr, and this script's own story to stdout.
  const child = spawn(process.execPath, [CLI, 'dev', '--json'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : 1));
  const isEnding = endWithMe(child);
  const announced = await readJson(child.stdout as AsyncIterable<unknown>);
  if (announced === undefined) {
    await ended;
    throw new Error(
      isEnding() ? 'Told to end before it was ready' : 'The servers did not start; the line above says why',
    );
  }
  const { temporalAddress, uiUrl } = announced;
  const state = JSON.parse(await readFile(join(cwd, '.backfill/state.json'), 'utf8')) as { databaseUrl: string };
  const connected = { ...env, TEMPORAL_ADDRESS: temporalAddress, BACKFILL_UI_URL: uiUrl };
  return {
    ...announced,
    databaseUrl: state.databaseUrl,
    ended,
    isEnding,
    backfill: (...args) => run(args, { cwd, env: connected }),
    async stop() {
      letGo(child);
      await ended;
    },
  };
}

/**
 * An example goes to its own servers, whatever else the shell is set up for: a Temporal or a database named there is
 * somebody's.
 */
function ownEnv({ config, env }: StackOptions): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:TEMPORAL_(?!CLI$)|DATABASE_URL$|PG)/.test(name));
  return { ...Object.fromEntries(kept), BACKFILL_CONFIG: fileURLToPath(config), ...env };
}

const commands = new Set<ChildProcess>();

/**
 * Ctrl-C reaches all of them by itself; a SIGTERM or SIGHUP reaches this process alone, which stays until they have ended.
 * @returns whether such a signal came
 */
function endWithMe(stack: ChildProcess): () => boolean {
  let isEnding = false;
  process.on('SIGINT', () => (isEnding = true));
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      isEnding = true;
      // As Ctrl-C: a command that watches stops watching.
      for (const command of commands) command.kill('SIGINT');
      letGo(stack);
    });
  }
  return () => isEnding;
}

/** Not by a signal: after a Ctrl-C, or in a terminal that was closed, it would be its second, and mean "at once". */
function letGo(stack: ChildProcess): void {
  if (stack.connected) stack.disconnect();
}

async function run(args: readonly string[], where: Pick<SpawnOptions, 'cwd' | 'env'>): Promise<number> {
  const child = spawn(process.execPath, [CLI, ...args], {
    ...where,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  commands.add(child);
  const [code] = (await once(child, 'exit')) as [number | null];
  commands.delete(child);
  return code ?? 1;
}

interface Announced {
  readonly temporalAddress: string;
  readonly uiUrl: string;
  readonly temporalCli: string;
}

/** `--json` prints one document: this one when all is ready, another, or none, when it does not start. */
async function readJson(stream: AsyncIterable<unknown>): Promise<Announced | undefined> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.endsWith('}\n')) return announcement(text);
  }
  return undefined;
}

function announcement(text: string): Announced | undefined {
  const document = JSON.parse(text) as Partial<Announced>;
  return document.temporalAddress === undefined ? undefined : (document as Announced);
}
