import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  isCancellation,
  rootCause,
} from '@temporalio/workflow';
import { type FailureInfo, FailureType } from '../domain/failure.js';

/** What an activity's failure says, in the vocabulary. */
export function failureInfo(error: unknown): FailureInfo {
  const application = findApplicationFailure(error);
  const info = application && infoOf(application);
  if (hasRunOutOfTime(error)) {
    const last = application ? `; the last attempt said: ${application.message}` : '';
    return { ...info, type: FailureType.TimedOut, message: `Not done within its time, retries included${last}` };
  }
  return info ?? { type: FailureType.SqlFailed, message: rootCause(error) ?? String(error) };
}

/**
 * Whether an activity ended because the run was cancelled. One that failed in the very moment of the cancel, or whose
 * worker was dead then, and would have been tried again, ends with the words of that attempt instead.
 */
export function wasCancelled(error: unknown): boolean {
  if (isCancellation(error)) return true;
  const passes: readonly string[] = [FailureType.Transient, FailureType.Overlap, FailureType.TimedOut];
  return CancellationScope.current().consideredCancelled && passes.includes(failureInfo(error).type);
}

/** Activities say all they know; a workflow's own refusal has a type and a message only. */
function infoOf({ type, message, details }: ApplicationFailure): FailureInfo | undefined {
  const info = details?.[0] as FailureInfo | undefined;
  return info ?? (isFailureType(type) ? { type, message } : undefined);
}

/**
 * Temporal does not wait for an attempt that would come too late: it fails the activity at once, with the words of the
 * attempt before, and says only beside them that the time was over.
 */
function hasRunOutOfTime(error: unknown): boolean {
  return error instanceof ActivityFailure && (error.cause instanceof TimeoutFailure || error.retryState === 'TIMEOUT');
}

function isFailureType(type: unknown): type is FailureType {
  return Object.values<unknown>(FailureType).includes(type);
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
