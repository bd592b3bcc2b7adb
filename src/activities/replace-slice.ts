import { log } from '@temporalio/activity';
import type { Replaced } from '../domain/outcome.js';

/** One partition of a run, as the workflow names it. */
export interface PartitionInput {
  readonly planId: string;
  readonly executionId: string;
  readonly table: string;
  readonly key: string;
}

/** Some partitions of a run, oldest first; at least one. */
export interface SliceInput extends Omit<PartitionInput, 'key'> {
  readonly keys: readonly string[];
  /** Milliseconds after which no other is begun. */
  readonly sliceMs: number;
}

export interface SliceResult {
  /** Those that are written, from the first on: at least one. */
  readonly written: readonly Replaced[];
  /** The next one was tried, and failed or was stopped: it is not as if it had not been begun. */
  readonly metTrouble: boolean;
}

/** Writes one partition. @param attempt the number of the attempt at it */
export type Replace = (partition: PartitionInput, attempt: number) => Promise<Replaced>;

/**
 * Writes partitions one after the other, each as an activity of its own would: its own transaction, its own row in the
 * ledger. Begun again, it finds those that are written.
 *
 * Where one fails, or is cancelled, those before it are the answer and the failure is left for the next slice, which
 * begins with that one: so an activity fails by its first partition only, and every rule of retries is as it is for one.
 * @param attempt the number of the attempt at the whole slice
 * @throws what `replace` throws of the first
 */
export async function replaceSlice(
  { keys, sliceMs, ...run }: SliceInput,
  { attempt, replace }: { readonly attempt: number; readonly replace: Replace },
): Promise<SliceResult> {
  const begun = performance.now();
  const written: Replaced[] = [];
  for (const key of keys) {
    if (written.length > 0 && performance.now() - begun >= sliceMs) break;
    // The attempts before have met the first that is not written, and none behind it.
    const isFirstTry = written.some(({ status }) => status !== 'already');
    try {
      written.push(await replace({ ...run, key }, isFirstTry ? 1 : attempt));
    } catch (error) {
      if (written.length === 0) throw error;
      log.info('The slice ends before this partition, with which the next one begins', {
        table: run.table,
        key,
        error,
      });
      return { written, metTrouble: true };
    }
  }
  return { written, metTrouble: false };
}
