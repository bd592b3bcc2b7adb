import { Client, Connection } from '@temporalio/client';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { taskQueueOf } from '../contract.js';
import { tolerantConverter } from '../payloads.js';
import { BackfillRefused, ServerUnreachable } from './errors.js';
import { translateError } from './translate.js';

/** Where Temporal is. What is left out comes from the environment and the config file, as for Temporal's own tools. */
export interface ConnectOptions {
  readonly address?: string | undefined;
  readonly namespace?: string | undefined;
  /** That of the workers; default: `BACKFILL_TASK_QUEUE`, or `backfill`. */
  readonly taskQueue?: string | undefined;
  /** A profile of Temporal's config file. */
  readonly profile?: string | undefined;
  /** Instead of the process's. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** A client that exists; it stays open when this one is closed. */
  readonly client?: Client | undefined;
}

/** A connection in use. */
export interface Session {
  readonly client: Client;
  readonly address: string;
  readonly taskQueue: string;
  close(): Promise<void>;
}

const CONNECT_MS = 3_500;
const CALL_MS = 3_500;

// Without it a client waits up to two minutes before it tries again a server that was away.
const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 2_000 };

export async function openSession(options: ConnectOptions): Promise<Session> {
  const taskQueue = options.taskQueue || taskQueueOf(options.env ?? process.env);
  if (options.client) {
    return { client: options.client, address: addressOf(options.client), taskQueue, close: async () => {} };
  }
  const { connectionOptions, namespace } = toClientOptions(loadProfile(options));
  const { address = DEFAULT_ADDRESS, apiKey, tls, metadata } = connectionOptions;
  const set = Object.fromEntries(Object.entries({ apiKey, tls, metadata }).filter(([, value]) => value !== undefined));
  const connection = Connection.lazy({ ...set, address, channelArgs, connectTimeout: CONNECT_MS });
  try {
    await connection.ensureConnected();
  } catch (error) {
    await connection.close();
    throw unreachable(error, address);
  }
  const client = new Client({
    connection,
    namespace: options.namespace ?? namespace ?? 'default',
    dataConverter: tolerantConverter,
  });
  return { client, address, taskQueue, close: () => connection.close() };
}

const DEFAULT_ADDRESS = 'localhost:7233';

/** The address that environment or config file name; undefined where neither does. */
export function configuredAddress(options: ConnectOptions): string | undefined {
  return loadProfile(options).address;
}

/** One call to the server, with a deadline, failing with an error of this package. */
export async function call<T>(
  { client, address }: Session,
  send: () => Promise<T>,
  { workflowId = '', deadlineMs = CALL_MS }: { readonly workflowId?: string; readonly deadlineMs?: number } = {},
): Promise<T> {
  try {
    return await client.connection.withDeadline(Date.now() + deadlineMs, send);
  } catch (error) {
    throw translateError(error, { address, workflowId });
  }
}

function loadProfile({ address, profile, env = process.env }: ConnectOptions) {
  const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  try {
    const loaded = loadClientConfigProfile({
      overrideEnvVars: Object.fromEntries(variables),
      ...(profile === undefined ? {} : { profile }),
    });
    return address === undefined ? loaded : { ...loaded, address };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BackfillRefused('InvalidRequest', `Temporal's configuration cannot be read: ${why}`, { cause });
  }
}

function addressOf({ connection }: Client): string {
  return connection instanceof Connection ? connection.options.address : 'the given client';
}

function unreachable(error: unknown, address: string): unknown {
  const translated = translateError(error, { address, workflowId: '' });
  if (translated !== error) return translated;
  return new ServerUnreachable(address, { why: 'no answer', isTransient: true }, { cause: error });
}
