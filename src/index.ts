export { BackfillClient, type StartOptions } from './client/backfill-client.js';
export type { BackfillHandle, RetryOptions, UndoOptions } from './client/backfill-handle.js';
export {
  AlreadyRunning,
  BackfillClientError,
  BackfillFailed,
  BackfillRefused,
  NoWorker,
  PartitionFailed,
  type Refusal,
  RunCancelled,
  RunNotFound,
  RunTerminated,
  ServerUnreachable,
  VerificationFailed,
} from './client/errors.js';
export type { RunFilter } from './client/list-runs.js';
export type { RunStatus, RunSummary } from './client/run-summary.js';
export type { ConnectOptions } from './client/session.js';
export type { BuildArguments, CheckArguments } from './config/arguments.js';
export { type CheckInput, everyRow, noRows, notNull, rowCount, unique } from './config/checks.js';
export { type ConfigInput, type SqlValue, type TableInput, defineConfig, defineTable, sql } from './config/define.js';
export type { RowSchema } from './config/row-schema.js';
export type { Changes } from './domain/changes.js';
export type { RowsOf } from './domain/origin.js';
export type { Strategy, WantedStrategy } from './domain/strategy.js';
export type { Grain, NumberForm, Partitioning } from './domain/grain.js';
export type { FailureInfo, FailureType } from './domain/failure.js';
export type { DoctorTarget, Finding } from './domain/finding.js';
export type {
  FailureRecord,
  FailuresPage,
  HistoryCursor,
  HistoryEntry,
  HistoryPage,
  RunName,
} from './domain/history.js';
export type { BackfillResult, Difference, Replaced, RunRecord } from './domain/outcome.js';
export type { LeftAlone, Plan, PlannedKeeping, PlannedPartition } from './domain/plan.js';
export type { PruneCounts, PruneRequest, PruneResult } from './domain/prune.js';
export type { PartitionState, Progress, RunState } from './domain/progress.js';
export type {
  BackfillRequest,
  FailureMode,
  PlanRequest,
  PublishMode,
  RunOptions,
  Selection,
  UndoRequest,
} from './domain/request.js';
export type {
  OpenRunOfTable,
  PartitionCounts,
  PartitionRecord,
  PartitionsPage,
  RecordState,
  TableState,
  TablesPage,
} from './domain/table-state.js';
