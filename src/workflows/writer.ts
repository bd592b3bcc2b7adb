import { workflowInfo } from '@temporalio/workflow';
import type { OpenedRun } from '../activities/open-run.js';
import { FailureType } from '../domain/failure.js';
import { ledger, partitionOptions } from './activities.js';
import { failureInfo, wasCancelled } from './failures.js';

/** A closed run was refused when it was opened again; the cause says why. */
export class MayNotGoOn extends Error {
  override readonly name = 'MayNotGoOn';
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

  /** @throws {MayNotGoOn} the plan is no longer true, or others have the range */
  async write(key: string): Promise<void> {
    const openings = this.#openings;
    try {
      await this.#attempt(key);
    } catch (error) {
      if (wasCancelled(error) || failureInfo(error).type !== FailureType.RunClosed) throw error;
      // Not where another partition has done so since: what is written by now would pass for a change from outside.
      if (openings === this.#openings) await (this.#opening ??= this.#openAgain());
      await this.#attempt(key);
    }
  }

  async #attempt(key: string): Promise<void> {
    const { planId, executionId, table } = this.#run;
    const options = partitionOptions(table, key, this.#run);
    await ledger.replacePartition.executeWithOptions(options, [{ planId, executionId, table, key }]);
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
