import { workflowInfo } from '@temporalio/workflow';
import type { OpenedRun } from '../activities/open-run.js';
import { FailureType } from '../domain/failure.js';
import { SLICE_MS } from '../domain/pace.js';
import { ledger, sliceOptions } from './activities.js';
import { failureInfo, wasCancelled } from './failures.js';

/** A closed run was refused when it was opened again; the cause says why. */
export class MayNotGoOn extends Error {
  override readonly name = 'MayNotGoOn';
}

export interface Written {
  /** From the first on. */
  readonly count: number;
  /** The next one was tried in vain. */
  readonly metTrouble: boolean;
}

/**
 * Writes the partitions of a run. An execution that finds its run closed was reset (`temporal workflow reset`) after it
 * had ended: it opens the run again, as a retry does, and goes on.
 */
export class Writer {
  readonly #run: OpenedRun;
  #openings = 0;
  #opening: Promise<void> | undefined;

  constructor(run: OpenedRun) {
    this.#run = run;
  }

  /**
   * Writes the first of these partitions, and as many of the others as fit into the time of a slice.
   * @throws {MayNotGoOn} the plan is no longer true, or others have the range
   * @throws what is wrong with the first
   */
  async write(keys: readonly string[]): Promise<Written> {
    const openings = this.#openings;
    try {
      return await this.#attempt(keys);
    } catch (error) {
      if (wasCancelled(error) || failureInfo(error).type !== FailureType.RunClosed) throw error;
      // Not where another partition has done so since: what is written by now would pass for a change from outside.
      if (openings === this.#openings) await (this.#opening ??= this.#openAgain());
      return await this.#attempt(keys);
    }
  }

  async #attempt(keys: readonly string[]): Promise<Written> {
    const { planId, executionId, table } = this.#run;
    const options = sliceOptions(table, keys, this.#run);
    const partition = { planId, executionId, table };
    const [key = '', ...others] = keys;
    if (others.length > 0) {
      const slice = { ...partition, keys, sliceMs: SLICE_MS };
      const { written, metTrouble } = await ledger.replacePartitions.executeWithOptions(options, [slice]);
      return { count: written.length, metTrouble };
    }
    await ledger.replacePartition.executeWithOptions(options, [{ ...partition, key }]);
    return { count: 1, metTrouble: false };
  }

  async #openAgain(): Promise<void> {
    const { planId, executionId, reason, requestedBy } = this.#run;
    try {
      await ledger.openRun({ planId, workflowId: workflowInfo().workflowId, executionId, reason, requestedBy });
      this.#openings++;
    } catch (cause) {
      throw wasCancelled(cause) ? cause : new MayNotGoOn('The run may not go on', { cause });
    } finally {
      this.#opening = undefined;
    }
  }
}
