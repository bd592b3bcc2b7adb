import { Context, log } from '@temporalio/activity';
import { metrics } from '../domain/metrics.js';
import type { FailureInfo } from '../domain/failure.js';
import type { Replaced } from '../domain/outcome.js';
import { isTransient, toBackfillError } from '../postgres/sqlstate.js';

interface Partition {
  readonly planId: string;
  readonly table: string;
  readonly key: string;
}

/** Says in log and metrics what becomes of partitions. The log adds workflow id, run id and attempt by itself. */
export interface Observer {
  replacing(partition: Partition, write: () => Promise<Replaced>): Promise<Replaced>;
  failed(partition: Partition, failure: { readonly info: FailureInfo; readonly attempt: number }): void;
}

export function createObserver(): Observer {
  const inFlight = new Map<string, number>();
  const change = (table: string, by: number) => {
    const now = (inFlight.get(table) ?? 0) + by;
    inFlight.set(table, now);
    const { name, description } = metrics.inFlight;
    Context.current().metricMeter.createGauge(name, 'int', undefined, description).set(now, { table });
  };
  return {
    async replacing(partition, write) {
      const start = performance.now();
      change(partition.table, 1);
      try {
        const done = await write();
        tellDone(partition, done, performance.now() - start);
        return done;
      } catch (error) {
        countRetry(partition.table, error);
        throw error;
      } finally {
        change(partition.table, -1);
      }
    },
    failed(partition, { info, attempt }) {
      count('partitions', { table: partition.table, outcome: 'failed' });
      const { type, sqlstate, message } = info;
      log.warn('Partition failed', { ...partition, attempt, type, ...(sqlstate && { sqlstate }), error: message });
    },
  };
}

function tellDone(partition: Partition, { status, rowsBefore, rowsAfter }: Replaced, ms: number): void {
  const { table } = partition;
  count('partitions', { table, outcome: status });
  log.info(`Partition ${status}`, { ...partition, rowsBefore, rowsAfter, milliseconds: Math.round(ms) });
  // Nothing was written now: its time and rows were told then.
  if (status === 'already') return;
  const { metricMeter } = Context.current();
  const { seconds, rows } = metrics;
  metricMeter.createHistogram(seconds.name, 'float', seconds.unit, seconds.description).record(ms / 1000, { table });
  metricMeter.createHistogram(rows.name, 'int', undefined, rows.description).record(rowsAfter, { table });
}

/** A cancel is no trouble, and what is hopeless is not made again. */
function countRetry(table: string, error: unknown): void {
  const known = toBackfillError(error);
  if (Context.current().cancellationSignal.aborted || !isTransient(known)) return;
  count('retries', { table, kind: known.info.sqlstate ?? known.info.type });
}

function count(which: 'partitions' | 'retries', tags: Record<string, string>): void {
  const { name, description } = metrics[which];
  Context.current().metricMeter.createCounter(name, undefined, description).add(1, tags);
}
