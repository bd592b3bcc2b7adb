import { fileURLToPath } from 'node:url';
import type { Harness } from './harness.js';
import { type WorkerChild, startWorkerChild } from './worker-child.js';

const config = fileURLToPath(new URL('../fixtures/gated-fact/backfill.config.ts', import.meta.url));

/** Workers on the gated F1, each a process of its own, of one test file. */
export interface GatedWorkers {
  start(): Promise<WorkerChild>;
  /** At once, also those that were stopped (SIGSTOP). */
  endAll(): Promise<void>;
}

export function gatedWorkers(harness: () => Harness): GatedWorkers {
  const started: WorkerChild[] = [];
  return {
    async start() {
      const worker = await startWorkerChild(harness(), { config, env: { BACKFILL_LOG_LEVEL: 'INFO' } });
      started.push(worker);
      return worker;
    },
    async endAll() {
      for (const worker of started.splice(0)) {
        worker.signal('SIGKILL');
        await worker.ended;
      }
    },
  };
}
