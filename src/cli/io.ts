import type { BackfillClient } from '../client/backfill-client.js';
import { RunNotFound } from '../client/errors.js';
import { suggestRun } from './suggest.js';

/** What the commands use of the client: everything public, so that a test may pass an object of its own. */
export type CliClient = Pick<BackfillClient, keyof BackfillClient>;

export interface CliConnection {
  readonly client: CliClient;
  /** Address of the Web UI; null where it is not known. */
  readonly uiUrl: string | null;
}

/** What a local config file defines. */
export interface LocalDefinitions {
  readonly file: string;
  /** Why it cannot be read; null where it can. */
  readonly problem: string | null;
  /** Digests of the definitions, by table. */
  readonly digests: ReadonlyMap<string, string>;
}

export interface Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** What a command touches of the world. */
export interface CliIo {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether someone sits at stdin. */
  readonly canAnswer: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** The name of the account, for `requestedBy`. */
  readonly userName: string | undefined;
  /** How long to wait between two looks at a run. */
  readonly pollMs: number;
  connect(): Promise<CliConnection>;
  /** The definitions of the config file here; undefined where there is none. */
  readLocalDefinitions(): Promise<LocalDefinitions | undefined>;
  /** A yes or no, asked on that output. */
  confirm(question: string, output: Output): Promise<boolean>;
  /** Calls back on Ctrl-C, which then does not end the process. Returns how to stop that. */
  onInterrupt(listener: () => void): () => void;
}

/** A command's action ends with an exit code. */
export interface Cli {
  readonly io: CliIo;
  exit(code: number): void;
}

export function printLines(output: Output, lines: readonly string[]): void {
  output.write(lines.map((line) => `${line}\n`).join(''));
}

export function printJson({ stdout }: CliIo, document: object): void {
  stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

/** Connects, and lets go of the connection whatever happens. */
export async function withClient<T>(io: CliIo, use: (connection: CliConnection) => Promise<T>): Promise<T> {
  const connection = await io.connect();
  try {
    return await use(connection);
  } catch (error) {
    throw error instanceof RunNotFound ? await suggestRun(connection.client, error) : error;
  } finally {
    await connection.client.close();
  }
}
