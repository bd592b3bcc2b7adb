import type pg from 'pg';
import type { Database, RunningTransaction } from './database.js';

/** The driver knows no AbortSignal, and its `query_timeout` only stops waiting: the server would go on. */
export function stopOnAbort(database: Database, client: pg.PoolClient, signal: AbortSignal | undefined) {
  let stopping: Promise<void> = Promise.resolve();
  let running: RunningTransaction | undefined;
  const stop = (): void => {
    stopping = cancelInTime(database, running).catch(() => {
      // The other way out: a closed socket is noticed within client_connection_check_interval.
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    });
  };
  signal?.addEventListener('abort', stop, { once: true });
  return {
    runs(transaction: RunningTransaction): void {
      running = transaction;
    },
    async end(): Promise<void> {
      signal?.removeEventListener('abort', stop);
      await stopping;
    },
  };
}

/** A pooler whose sessions are all taken, by us perhaps, makes a cancel wait until one of them is done. */
const CANCEL_MS = 2000;

async function cancelInTime(database: Database, running: RunningTransaction | undefined): Promise<void> {
  if (!running) throw new Error('It has not begun');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The cancel does not get through')), CANCEL_MS);
  });
  await Promise.race([database.cancel(running), late]).finally(() => clearTimeout(timer));
}
