import { ApplicationFailure } from '@temporalio/workflow';
import type { ReadAnswers, ReadInput } from '../contract.js';
import { FailureType } from '../domain/failure.js';
import { planning } from './activities.js';
import { asRunFailure } from './failures.js';

/** Reads the ledger for clients, which need no connection to the database. */
export async function read(input: ReadInput): Promise<ReadAnswers[keyof ReadAnswers]> {
  try {
    return await answer(input);
  } catch (error) {
    throw asRunFailure(error);
  }
}

function answer(input: ReadInput): Promise<ReadAnswers[keyof ReadAnswers]> {
  switch (input?.what) {
    case 'plan':
      return planning.readPlan({ planId: input.planId, after: input.after ?? 0 });
    case 'run':
      return planning.readRun({ planId: input.planId });
    case 'tables':
      return planning.readTables(input);
    case 'history':
      return planning.readHistory(input);
    case 'partitions':
      return planning.readPartitions(input);
    case 'failed':
      return planning.readFailures(input);
    case 'doctor':
      return planning.checkDatabase(input);
    default:
      throw ApplicationFailure.nonRetryable(
        `The input is ${JSON.stringify(input satisfies never)}: expected {"what":"tables"}, or "plan", "run", "history", "partitions", "failed", "doctor"`,
        FailureType.InvalidRequest,
      );
  }
}
