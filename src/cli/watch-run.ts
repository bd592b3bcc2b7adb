import { setTimeout as sleep } from 'node:timers/promises';
import type { BackfillHandle } from '../client/backfill-handle.js';
import { NoWorker, ServerUnreachable } from '../client/errors.js';
import type { RunSummary } from '../client/run-summary.js';
import type { Progress } from '../domain/progress.js';
import type { ProgressView } from './progress-view.js';

export interface WatchOptions {
  readonly pollMs: number;
  /** Stops the watching, never the run. */
  readonly signal: AbortSignal;
}

/**
 * Shows a run until it has ended. Worker and server may come and go meanwhile: the run lives on without them, and so
 * does the watching. Undefined: the watching was stopped.
 */
export async function watchRun(
  handle: BackfillHandle,
  view: ProgressView,
  { pollMs, signal }: WatchOptions,
): Promise<RunSummary | undefined> {
  const outage = tellOnce(view);
  let last: Progress | undefined;
  const show = (progress: Progress) => view.show((last = progress));
  try {
    while (!signal.aborted) {
      const run = await look(handle, { ...view, show }, { outage, signal });
      if (run?.status === 'completed' && last && last.done < last.total) show(completed(last));
      if (run && run.status !== 'running') return run;
      await sleep(pollMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    view.end();
  }
  return undefined;
}

/** The last look was before the end; a bar that stops short of it would say that something is missing. */
function completed(progress: Progress): Progress {
  return { ...progress, state: 'completed', done: progress.total, writing: [], secondsLeft: null };
}

interface Look {
  readonly outage: Outage;
  readonly signal: AbortSignal;
}

/** Asks the server whether the run is open, which needs no worker, and then the worker how far it is. */
async function look(handle: BackfillHandle, view: ProgressView, { outage, signal }: Look) {
  try {
    const run = await unlessAborted(signal, handle.describe());
    if (run.status !== 'running') return run;
    view.show(await unlessAborted(signal, handle.progress()));
    outage.over();
    return run;
  } catch (error) {
    if (error instanceof NoWorker) outage.tell('waiting for a worker…');
    else if (error instanceof ServerUnreachable && error.isTransient) outage.tell('waiting for the Temporal server…');
    else throw error;
    return undefined;
  }
}

interface Outage {
  tell(text: string): void;
  over(): void;
}

function tellOnce(view: ProgressView): Outage {
  let told = '';
  return {
    tell(text) {
      if (text !== told) view.notice(text);
      told = text;
    },
    over: () => void (told = ''),
  };
}

/** A call may take seconds to fail; someone who pressed Ctrl-C does not wait for it. */
function unlessAborted<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
