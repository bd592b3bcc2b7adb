import { ApplicationFailure } from '@temporalio/workflow';
import type { ReadInput } from '../contract.js';
import { FailureType } from '../domain/failure.js';
import type { RunRecord } from '../domain/outcome.js';
import type { Plan } from '../domain/plan.js';
import { planning } from './activities.js';
import { asRunFailure } from './failures.js';

/** Reads the ledger for clients, which need no connection to the database. */
export async function read(input: ReadInput): Promise<Plan | RunRecord | null> {
  try {
    switch (input?.what) {
      case 'plan':
        return await planning.readPlan({ planId: input.planId, after: input.after ?? 0 });
      case 'run':
        return await planning.readRun({ planId: input.planId });
      default:
        throw ApplicationFailure.nonRetryable(
          `The input is ${JSON.stringify(input)}: expected {"what":"plan"|"run","planId":…}`,
          FailureType.InvalidRequest,
        );
    }
  } catch (error) {
    throw asRunFailure(error);
  }
}
