import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { MOST_FAILURE_BYTES, fitFailure } from '../domain/fit-failure.js';
import { isTransient, toBackfillError } from '../postgres/sqlstate.js';

/** The server cuts what it keeps of a retried failure at 4 KiB, message and details together: the message is in both. */
const MOST_RETRIED_BYTES = 1_900;

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
  const isRetried = isTransient(known);
  const info = fitFailure(known.info, isRetried ? MOST_RETRIED_BYTES : MOST_FAILURE_BYTES);
  const failure = ApplicationFailure.create({
    type: info.type,
    message: info.message,
    nonRetryable: !isRetried,
    details: [info, attempt],
  });
  // It is that of this function, and takes the room of what went wrong.
  failure.stack = '';
  return failure;
}
