import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  NamespaceNotFoundError,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  isGrpcServiceError,
} from '@temporalio/client';
import { BackfillError, FailureType } from '../domain/failure.js';
import type { PartitionFailedDetails, VerificationFailedDetails } from '../domain/outcome.js';
import {
  AlreadyRunning,
  BackfillClientError,
  BackfillFailed,
  BackfillRefused,
  PartitionFailed,
  type Refusal,
  RunCancelled,
  RunNotFound,
  RunTerminated,
  ServerUnreachable,
  VerificationFailed,
  refusals,
} from './errors.js';

/** What an error is about. */
export interface About {
  readonly address: string;
  readonly workflowId: string;
}

const INVALID_ARGUMENT = 3;

/** By gRPC code. */
const unreachable = new Map([
  [4, { why: 'no answer in time', isTransient: true }],
  [14, { why: 'no answer', isTransient: true }],
  [7, { why: 'it does not permit this', isTransient: false }],
  [16, { why: 'it does not accept these credentials', isTransient: false }],
]);

/** An error of this package for one of Temporal's, by class, code and type. What is not known stays as it is. */
export function translateError(error: unknown, about: About): unknown {
  if (error instanceof BackfillClientError) return error;
  if (error instanceof BackfillError) return refusal(error.info.type, error.message, error) ?? error;
  if (error instanceof WorkflowFailedError) return translateFailure(error.cause, about.workflowId) ?? error;
  if (error instanceof WorkflowNotFoundError) return new RunNotFound(about.workflowId, { cause: error });
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return new AlreadyRunning({ workflowId: error.workflowId, request: null, planId: null });
  }
  if (error instanceof NamespaceNotFoundError) {
    const reason = { why: `it has no namespace ${error.namespace}`, isTransient: false };
    return new ServerUnreachable(about.address, reason, { cause: error });
  }
  return translateGrpc(error, about) ?? error;
}

/** How a run ended, when it did not complete. */
function translateFailure(failure: unknown, workflowId: string): BackfillClientError | undefined {
  const options = { cause: failure };
  if (failure instanceof ActivityFailure) return translateFailure(failure.cause, workflowId);
  if (failure instanceof CancelledFailure) return new RunCancelled(workflowId, options);
  if (failure instanceof TerminatedFailure) return new RunTerminated(workflowId, 'terminated', options);
  if (failure instanceof TimeoutFailure) return new RunTerminated(workflowId, 'timed-out', options);
  return failure instanceof ApplicationFailure ? translateApplicationFailure(failure) : undefined;
}

function translateApplicationFailure(failure: ApplicationFailure): BackfillClientError {
  const [type, details, options] = [failure.type ?? 'Error', failure.details?.[0], { cause: failure }];
  if (type === FailureType.PartitionFailed && isPartitionFailed(details)) return new PartitionFailed(details, options);
  if (type === FailureType.VerificationFailed && isVerificationFailed(details)) {
    return new VerificationFailed(details, options);
  }
  return refusal(type, failure.message, failure) ?? new BackfillFailed(type, failure.message, options);
}

function refusal(type: string, message: string, cause: Error): BackfillRefused | undefined {
  return isRefusal(type) ? new BackfillRefused(type, message, { cause }) : undefined;
}

function isRefusal(type: string): type is Refusal {
  return (refusals as readonly string[]).includes(type);
}

function translateGrpc(error: unknown, { address }: About): BackfillClientError | undefined {
  const service = grpcErrorOf(error);
  if (!service) return undefined;
  const reason = unreachable.get(service.code);
  if (reason) return new ServerUnreachable(address, reason, { cause: error });
  return service.code === INVALID_ARGUMENT ? refusal('InvalidRequest', service.details, service) : undefined;
}

/** The gRPC error that this one is or was caused by. */
export function grpcErrorOf(error: unknown) {
  if (isGrpcServiceError(error)) return error;
  return error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : undefined;
}

// Details come from the worker, which may be of another version than this client.
function isPartitionFailed(details: unknown): details is PartitionFailedDetails {
  return isObject(details) && typeof details['planId'] === 'string' && isObject(details['oldest']);
}

function isVerificationFailed(details: unknown): details is VerificationFailedDetails {
  return isObject(details) && typeof details['planId'] === 'string' && Array.isArray(details['differences']);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
