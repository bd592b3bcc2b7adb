/**
 * The closed vocabulary of what can go wrong. The names travel as the `type` of Temporal's ApplicationFailure, are what
 * retry policies match, and are shown to people.
 */
export const FailureType = {
  /** The request is malformed, or asks for what cannot be done. Nothing was written. */
  InvalidRequest: 'InvalidRequest',
  /** No definition of the worker has this name. */
  UnknownTable: 'UnknownTable',
  /** The plan is no longer true: what was reviewed is not what would run. */
  PlanDrift: 'PlanDrift',
  /** Another run has it. */
  Overlap: 'Overlap',
  /** The run ended with a partition that failed; the details name the oldest. */
  PartitionFailed: 'PartitionFailed',
  /** The last read of the target found other rows than the ledger says. */
  VerificationFailed: 'VerificationFailed',
  /** PostgreSQL said no for good (SQLSTATE classes 22, 23, 42 and the like). */
  SqlFailed: 'SqlFailed',
  /** Code of a definition that gives rows is mistaken, or gave no such row as it says. */
  CodeFailed: 'CodeFailed',
  /** A check on the new rows did not hold. */
  CheckFailed: 'CheckFailed',
  /** The build gave no row, and the definition does not allow that. */
  EmptyBuild: 'EmptyBuild',
  /** The build gave rows outside its partition, or with a null key. */
  StrayRows: 'StrayRows',
  /** Old rows cannot be deleted: a trigger or a rule of the table keeps them. */
  RowsStay: 'RowsStay',
  /** The worker's definition is not the plan's. */
  DefinitionChanged: 'DefinitionChanged',
  /** The table's columns or partitions are not the plan's. */
  ShapeChanged: 'ShapeChanged',
  /** The run was closed or taken over while the partition was being written. */
  RunClosed: 'RunClosed',
  /** The ledger is missing or older than the worker. */
  LedgerOutdated: 'LedgerOutdated',
  /** PostgreSQL, or the way to it, is in trouble that passes: retried. */
  Transient: 'Transient',
  /** The partition could not be written within `timeouts.partition`, retries included. */
  TimedOut: 'TimedOut',
} as const;
export type FailureType = (typeof FailureType)[keyof typeof FailureType];

/** What is known of a failure, as plain data that crosses process borders. */
export interface FailureInfo {
  readonly type: FailureType;
  readonly message: string;
  /** SQLSTATE, five characters. */
  readonly sqlstate?: string;
  readonly detail?: string;
  readonly check?: string;
  /** Keys of offending rows, at most ten. */
  readonly sample?: readonly string[];
}

/** A driver's text may quote a whole value, and what does not fit a message of Temporal's is lost with its cause. */
const MOST_CHARACTERS = 2_000;

function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

/** An error with a name of the vocabulary. Only {@link FailureType.Transient} is worth another attempt. */
export class BackfillError extends Error {
  override readonly name: FailureType;
  readonly info: FailureInfo;
  constructor(info: FailureInfo, options?: ErrorOptions) {
    const message = cut(info.message);
    super(message, options);
    this.name = info.type;
    this.info = { ...info, message };
  }
}

export class InvalidRequest extends BackfillError {
  constructor(message: string, options?: ErrorOptions) {
    super({ type: FailureType.InvalidRequest, message }, options);
  }
}
