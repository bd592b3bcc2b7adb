import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation, rootCause } from '@temporalio/workflow';
import { type FailureInfo, FailureType } from '../domain/failure.js';

/** What an activity's failure says, in the vocabulary. */
export function failureInfo(error: unknown): FailureInfo {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const application = findApplicationFailure(cause);
  const info = application?.details?.[0] as FailureInfo | undefined;
  if (cause instanceof TimeoutFailure) {
    const last = application ? `; the last attempt said: ${application.message}` : '';
    return { type: FailureType.TimedOut, message: `Not done within its time, retries included${last}` };
  }
  return info ?? { type: FailureType.SqlFailed, message: rootCause(error) ?? String(error) };
}

/** The number of the attempt that failed last. */
export function failedAttempt(error: unknown): number {
  const attempt: unknown = findApplicationFailure(error)?.details?.[1];
  return typeof attempt === 'number' ? attempt : 1;
}

/** Ends the workflow as failed with the activity's own type and words, instead of "Activity task failed". */
export function asRunFailure(error: unknown): Error {
  if (isCancellation(error) || !(error instanceof Error)) return error as Error;
  const info = failureInfo(error);
  return ApplicationFailure.create({
    type: info.type,
    message: info.message,
    nonRetryable: true,
    details: [info],
    cause: error,
  });
}

function findApplicationFailure(error: unknown): ApplicationFailure | undefined {
  if (error instanceof ApplicationFailure) return error;
  return error instanceof Error && error.cause !== undefined ? findApplicationFailure(error.cause) : undefined;
}
