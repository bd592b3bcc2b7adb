import type { FailureInfo } from '../domain/failure.js';
import type { Difference, PartitionFailedDetails, VerificationFailedDetails } from '../domain/outcome.js';

/** Why a request was not taken up. The words are those of the failures of a run. */
export const refusals = ['InvalidRequest', 'UnknownTable', 'PlanDrift', 'Overlap'] as const;
export type Refusal = (typeof refusals)[number];

/** What every error of the client is. The fields of each class hold what its message says. */
export abstract class BackfillClientError extends Error {}

/** Nothing was written: the request, the plan or another run stands against it. */
export class BackfillRefused extends BackfillClientError {
  override readonly name: string = 'BackfillRefused';
  readonly type: Refusal;
  constructor(type: Refusal, message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }
}

/** A run with the same workflow id is open, and it was asked for something else. */
export class AlreadyRunning extends BackfillRefused {
  override readonly name = 'AlreadyRunning';
  readonly workflowId: string;
  /** The canonical request of the open run; null while it is not known. */
  readonly request: string | null;
  readonly planId: string | null;
  constructor(open: { readonly workflowId: string; readonly request: string | null; readonly planId: string | null }) {
    const what = open.request ?? (open.planId === null ? 'what, it does not say yet' : `plan ${open.planId}`);
    super('Overlap', `Run ${open.workflowId} is open and was asked for something else: ${what}`);
    this.workflowId = open.workflowId;
    this.request = open.request;
    this.planId = open.planId;
  }
}

/** The run ended with a failed partition; this names the oldest. */
export class PartitionFailed extends BackfillClientError {
  override readonly name = 'PartitionFailed';
  readonly planId: string;
  readonly key: string;
  readonly failure: FailureInfo;
  readonly failed: number;
  readonly done: number;
  readonly total: number;
  constructor(details: PartitionFailedDetails, options?: ErrorOptions) {
    const { key, ...failure } = details.oldest;
    super(`Partition ${key} failed: ${failure.message}`, options);
    this.planId = details.planId;
    this.key = key;
    this.failure = failure;
    this.failed = details.failed;
    this.done = details.done;
    this.total = details.total;
  }
}

/** The last read of the target found other rows than the ledger says. */
export class VerificationFailed extends BackfillClientError {
  override readonly name = 'VerificationFailed';
  readonly planId: string;
  readonly count: number;
  readonly differences: readonly Difference[];
  constructor(details: VerificationFailedDetails, options?: ErrorOptions) {
    const keys = details.differences.map(({ key }) => key).join(', ');
    super(`The table is not as the run recorded it in ${details.count} partition(s): ${keys}`, options);
    this.planId = details.planId;
    this.count = details.count;
    this.differences = details.differences;
  }
}

/** The work failed for a reason outside any one partition, for example a ledger that is not migrated. */
export class BackfillFailed extends BackfillClientError {
  override readonly name = 'BackfillFailed';
  readonly type: string;
  constructor(type: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }
}

export class RunCancelled extends BackfillClientError {
  override readonly name = 'RunCancelled';
  readonly workflowId: string;
  constructor(workflowId: string, options?: ErrorOptions) {
    super(`Run ${workflowId} was cancelled`, options);
    this.workflowId = workflowId;
  }
}

/** Someone ended the run from outside, or its time ran out: it had no say in how it ended. */
export class RunTerminated extends BackfillClientError {
  override readonly name = 'RunTerminated';
  readonly workflowId: string;
  readonly how: 'terminated' | 'timed-out';
  constructor(workflowId: string, how: 'terminated' | 'timed-out', options?: ErrorOptions) {
    super(`Run ${workflowId} ${how === 'terminated' ? 'was terminated' : 'timed out'}`, options);
    this.workflowId = workflowId;
    this.how = how;
  }
}

/** Nobody answers on the task queue. */
export class NoWorker extends BackfillClientError {
  override readonly name = 'NoWorker';
  readonly taskQueue: string;
  /** The run that was started all the same, and begins when a worker comes. */
  readonly waitingRun: string | null;
  constructor(taskQueue: string, waitingRun: string | null = null, options?: ErrorOptions) {
    const waiting = waitingRun === null ? '' : `; run ${waitingRun} is open and begins when one comes`;
    super(`No worker answers on task queue ${taskQueue}${waiting}: start one with \`backfill worker\``, options);
    this.taskQueue = taskQueue;
    this.waitingRun = waitingRun;
  }
}

export class RunNotFound extends BackfillClientError {
  override readonly name = 'RunNotFound';
  readonly workflowId: string;
  /** @param meant the id of a run that is called nearly so */
  constructor(workflowId: string, { meant, ...options }: ErrorOptions & { readonly meant?: string | undefined } = {}) {
    super(`There is no run ${workflowId}${meant === undefined ? '' : `; did you mean ${meant}?`}`, options);
    this.workflowId = workflowId;
  }
}

/** The Temporal server cannot be used: no answer, no such namespace, or not with these credentials. */
export class ServerUnreachable extends BackfillClientError {
  override readonly name = 'ServerUnreachable';
  readonly address: string;
  readonly why: string;
  /** It may come back by itself. */
  readonly isTransient: boolean;
  constructor(
    address: string,
    reason: { readonly why: string; readonly isTransient: boolean },
    options?: ErrorOptions,
  ) {
    super(`Temporal at ${address} cannot be used: ${reason.why}`, options);
    this.address = address;
    this.why = reason.why;
    this.isTransient = reason.isTransient;
  }
}
