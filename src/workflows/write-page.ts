import { CancelledFailure, CancellationScope, log, workflowInfo } from '@temporalio/workflow';
import type { OpenedRun } from '../activities/open-run.js';
import { FailureType } from '../domain/failure.js';
import { Pace } from '../domain/pace.js';
import type { WorkPage } from '../domain/plan.js';
import { ledger } from './activities.js';
import { asRunFailure, failedAttempt, failureInfo, wasCancelled } from './failures.js';
import type { Tracker } from './tracker.js';
import { slidingWindow } from './window.js';
import { MayNotGoOn, Writer } from './writer.js';

type Partitions = WorkPage['partitions'];

/**
 * Writes the partitions of a page, oldest first, in slices.
 * @returns the position after which the next execution goes on, or null at the end of the plan
 * @throws what ends the run before its plan is at an end: a cancel, or that it may not go on
 */
export async function writePage(run: OpenedRun, page: WorkPage, tracker: Tracker): Promise<number | null> {
  tracker.openPage(page);
  const { concurrency, onFailure } = run.options;
  const writer = new Writer(run);
  const pace = new Pace(run.total, concurrency);
  // Tried by a slice in vain: they are waited for as all that is in flight.
  const tried = new Set<number>();
  // These, and those of a slice that ran out of time: they are met again one by one.
  const alone = new Set<number>();
  let ended: Error | undefined;
  let newest = 0;
  const next = await slidingWindow(
    page.partitions.filter(({ isDone }) => !isDone),
    concurrency,
    {
      mayStart: ({ seq }) => {
        if (ended) return false;
        if (tried.has(seq)) return true;
        const stopped = onFailure === 'stop' && tracker.failures.count > 0;
        // What a slice gave back is older than others that ended: the next execution would take up one that failed again.
        return !stopped && (seq < newest || !workflowInfo().continueAsNewSuggested);
      },
      take: (waiting, { seq }) => (alone.has(seq) ? 1 : pace.take(waiting)),
      run: async (slice) => {
        newest = Math.max(newest, slice.at(-1)?.seq ?? 0);
        for (const { seq } of slice) tried.delete(seq);
        const begun = Date.now();
        const end = await writeSlice(run, slice, { writer, tracker });
        const { count, written = count } = end;
        pace.wrote({ asked: slice.length, written, ms: Date.now() - begun });
        for (const { seq } of end.tried ?? []) tried.add(seq);
        for (const { seq } of end.alone ?? end.tried ?? []) alone.add(seq);
        ended ??= end.error;
        return count;
      },
    },
  );
  if (ended) throw ended;
  if (next) return next.seq - 1;
  return page.hasMore ? (page.partitions.at(-1)?.seq ?? null) : null;
}

/** What became of a slice. */
interface SliceEnd {
  /** Partitions that are done with, from the first on: written, or failed. */
  readonly count: number;
  /** Where that is not their number. */
  readonly written?: number;
  /** Of the others, those that were begun. */
  readonly tried?: Partitions;
  /** Of the others, those that are to be met again one by one; where it is not said, what was tried. */
  readonly alone?: Partitions;
  /** What ends the run. */
  readonly error?: Error;
}

async function writeSlice(
  run: OpenedRun,
  slice: Partitions,
  { writer, tracker }: { readonly writer: Writer; readonly tracker: Tracker },
): Promise<SliceEnd> {
  const keys = slice.map(({ key }) => key);
  tracker.began(keys);
  try {
    const { count, metTrouble } = await writer.write(keys);
    tracker.wrote(keys, count);
    return { count, tried: metTrouble ? slice.slice(count, count + 1) : [] };
  } catch (error) {
    tracker.wrote(keys, 0);
    if (wasCancelled(error)) return { count: 0, error: new CancelledFailure('The run was cancelled') };
    if (error instanceof MayNotGoOn) return { count: 0, error: asRunFailure(error.cause) };
    // The server's own words, which name none of several. Those that are written will say so.
    if (keys.length > 1 && failureInfo(error).type === FailureType.TimedOut) return { count: 0, alone: slice };
    await fail(run, slice[0], error, tracker);
    return { count: 1, written: 0 };
  }
}

/** The first of a slice is the one that failed: an activity that meets trouble further on gives those before. */
async function fail(
  { planId, table }: OpenedRun,
  partition: Partitions[number] | undefined,
  error: unknown,
  tracker: Tracker,
): Promise<void> {
  if (!partition) throw error;
  const { key, seq } = partition;
  const info = failureInfo(error);
  tracker.failed(key, seq, info);
  await record({ planId, table, key, info, attempt: failedAttempt(error) });
}

/** Writes a failure to the ledger. The workflow's own failure names it in any case. */
async function record(failure: Parameters<typeof ledger.recordFailure>[0]): Promise<void> {
  try {
    await CancellationScope.nonCancellable(() => ledger.recordFailure(failure));
  } catch (error) {
    log.warn('The failure could not be written to the ledger', { key: failure.key, error });
  }
}
