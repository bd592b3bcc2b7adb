import { accessSync, constants, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { ownFolder, waitForLeavingOwner } from './owner.js';
import { type PostgresOptions, startPostgresServer, stopLeftoverPostgres } from './postgres-server.js';
import { DEFAULT_FOLDER, removeState } from './state.js';
import { stopAll, type Stoppable } from './stop-all.js';
import { findTemporalCli, temporalCliMissing } from './temporal-cli.js';
import { startTemporalServer, stopLeftoverTemporal } from './temporal-server.js';
import { stopLeftoverWorker } from './worker-process.js';

export interface StackOptions {
  /** Data, logs and pid files; made where there is none. */
  readonly folder?: string;
  readonly log: (line: string) => void;
  /** For tests: settings of PostgreSQL, Temporal in memory. */
  readonly postgres?: Pick<PostgresOptions, 'settings' | 'binaries'>;
  readonly durable?: boolean;
}

/** Real servers that this process started, on 127.0.0.1. */
export interface Stack extends Stoppable {
  readonly folder: string;
  readonly temporalAddress: string;
  readonly uiUrl: string;
  /** Of the database `backfill`. Holds the password. */
  readonly databaseUrl: string;
  readonly temporalCli: string;
  /** Settles, with a sentence, when a server ends by itself. */
  readonly failed: Promise<string>;
}

const DATABASE = 'backfill';

/**
 * Starts PostgreSQL and Temporal with what the folder holds. What a killed owner left running is stopped first.
 * @throws {Error} one sentence; nothing is left running
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { log, durable = true } = options;
  const folder = prepareFolder(options.folder ?? DEFAULT_FOLDER);
  await waitForLeavingOwner(folder, log);
  const release = ownFolder(folder);
  const started: Stoppable[] = [];
  const end = async (how: 'stop' | 'kill') => {
    removeState(folder);
    await stopAll(started, how);
    release();
  };
  let stopping: Promise<void> | undefined;
  try {
    await stopLeftovers(folder, log);
    const temporalCli = await findTemporalCli({ log });
    if (temporalCli === undefined) throw new Error(temporalCliMissing);
    const postgres = await startPostgresServer({ ...options.postgres, folder, database: DATABASE });
    started.push(postgres);
    const temporal = await startTemporalServer({ cli: temporalCli, folder, durable });
    started.push(temporal);
    return {
      folder,
      temporalAddress: temporal.address,
      uiUrl: temporal.uiUrl,
      databaseUrl: postgres.url(),
      temporalCli,
      failed: Promise.race([postgres.failed, temporal.failed]),
      stop: () => (stopping ??= end('stop')),
      kill: () => (stopping = end('kill')),
    };
  } catch (error) {
    await end('stop');
    throw error;
  }
}

/** Servers and worker of an owner that was killed, by their pid files. */
export async function stopLeftovers(folder: string, log: (line: string) => void): Promise<void> {
  const leftovers = [
    { name: 'a worker', stop: stopLeftoverWorker },
    { name: 'Temporal', stop: stopLeftoverTemporal },
    { name: 'PostgreSQL', stop: stopLeftoverPostgres },
  ];
  for (const { name, stop } of leftovers) {
    if (await stop(folder)) log(`Stopped ${name}, left running by an earlier start that was killed`);
  }
}

function prepareFolder(folder: string): string {
  const path = resolve(folder);
  // Root's PostgreSQL runs under another user, who has to pass through.
  mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new Error(`${path} belongs to another user; run as that user, or delete it (its data are lost)`, {
      cause: error,
    });
  }
  return path;
}
