import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { isTransient, toBackfillError } from '../postgres/sqlstate.js';

type Activity<A extends unknown[], R> = (...args: A) => Promise<R>;

/**
 * What every activity has in common. It heartbeats, so that a cancel reaches it and a dead worker is noticed; and what it
 * throws has a type of the vocabulary, because Temporal would keep a driver's error without its SQLSTATE. Everything but
 * transient trouble is final.
 */
export function asActivity<A extends unknown[], R>(run: Activity<A, R>): Activity<A, R> {
  return async (...args) => {
    const context = Context.current();
    const timer = setInterval(
      () => context.heartbeat(),
      Math.max(250, (context.info.heartbeatTimeoutMs ?? 10_000) / 4),
    );
    try {
      return await run(...args);
    } catch (error) {
      throw toFailure(error, context.cancellationSignal, context.info.attempt);
    } finally {
      clearInterval(timer);
    }
  };
}

/** The error in Temporal's form. An aborted attempt ends with the reason of its abort, as the SDK expects. */
function toFailure(error: unknown, signal: AbortSignal, attempt: number): Error {
  if (error instanceof CancelledFailure || error instanceof ApplicationFailure) return error;
  if (signal.aborted && signal.reason instanceof Error) return signal.reason;
  const known = toBackfillError(error);
  return ApplicationFailure.create({
    type: known.info.type,
    message: known.message,
    nonRetryable: !isTransient(known),
    details: [known.info, attempt],
  });
}
