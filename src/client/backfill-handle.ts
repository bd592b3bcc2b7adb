import type { WorkflowHandle } from '@temporalio/client';
import { progressQuery } from '../contract.js';
import type { BackfillResult } from '../domain/outcome.js';
import type { Progress } from '../domain/progress.js';
import type { PlanRequest, UndoRequest } from '../domain/request.js';
import { BackfillRefused, NoWorker, RunNotFound, ServerUnreachable } from './errors.js';
import { type RunSummary, summarize } from './run-summary.js';
import { type Session, call } from './session.js';
import { startRun } from './start-run.js';
import { summaryText } from './summary-text.js';
import { grpcErrorOf, translateError } from './translate.js';

export type RetryOptions = Omit<PlanRequest, 'plan'>;
export type UndoOptions = Omit<UndoRequest, 'undo'>;

/** Starts a run that undoes the one of a plan. */
export type Undo = (planId: string, options: UndoOptions) => Promise<BackfillHandle>;

/** A run, by its workflow id. */
export interface BackfillHandle {
  readonly workflowId: string;
  /** What Temporal knows of the run; needs no worker. */
  describe(): Promise<RunSummary>;
  /** How far it is. Needs a worker, also for a run that has ended. */
  progress(): Promise<Progress>;
  /** Waits for the end; rejects with a typed error when the run does not complete. */
  result(): Promise<BackfillResult>;
  /** Asks the run to stop and returns at once; nothing happens when it has ended. What is done stays done. */
  cancel(): Promise<void>;
  /** Goes on at the first unfinished partition, under the same workflow id. */
  retry(options?: RetryOptions): Promise<BackfillHandle>;
  /** Puts back what the run replaced, as a run of its own: all of it, or a range. */
  undo(options?: UndoOptions): Promise<BackfillHandle>;
}

const QUERY_MS = 3_500;
/**
 * gRPC codes by which a server says that no worker answered: 9, nobody has polled of late, or nobody has done the run's
 * first task; 1, 2, 8, 10 and 13 come while a worker dies or comes back, by the state in which it left its queries.
 */
const UNANSWERED = new Set([1, 2, 8, 9, 10, 13]);

export function createHandle(session: Session, handle: WorkflowHandle, undo: Undo): BackfillHandle {
  const { workflowId } = handle;
  const describe = async () => {
    const description = await call(session, () => handle.describe(), { workflowId });
    return summarize(description, originalStart(description.raw.workflowExtendedInfo?.originalStartTime));
  };
  return {
    workflowId,
    describe,
    progress: () => queryProgress(session, handle),
    async result() {
      try {
        return (await handle.result()) as BackfillResult;
      } catch (error) {
        throw translateError(error, { address: session.address, workflowId });
      }
    },
    cancel: () => cancelRun(session, handle, describe),
    async retry(options = {}) {
      return createHandle(session, await retryRun(session, await describe(), options), undo);
    },
    async undo(options = {}) {
      return undo(demandPlan(await describe(), 'undo'), options);
    },
  };
}

async function queryProgress(session: Session, handle: WorkflowHandle): Promise<Progress> {
  const { workflowId } = handle;
  try {
    return await call(session, () => handle.query(progressQuery), { workflowId, deadlineMs: QUERY_MS });
  } catch (error) {
    const isSilent = error instanceof ServerUnreachable && error.isTransient;
    if (!isSilent && !UNANSWERED.has(grpcErrorOf(error)?.code ?? 0)) throw error;
    // Silence may be the server's or the worker's: ask the server something that needs no worker.
    await call(session, () => handle.describe(), { workflowId, deadlineMs: 500 });
    throw new NoWorker(session.taskQueue, null, { cause: error });
  }
}

async function cancelRun(session: Session, handle: WorkflowHandle, describe: () => Promise<RunSummary>): Promise<void> {
  try {
    await call(session, () => handle.cancel(), { workflowId: handle.workflowId });
  } catch (error) {
    // The server says "not found" of a run that has ended, too.
    if (!(error instanceof RunNotFound)) throw error;
    await describe();
  }
}

function demandPlan({ workflowId, planId }: RunSummary, forWhat: string): string {
  if (planId !== null) return planId;
  throw new BackfillRefused('InvalidRequest', `Run ${workflowId} has no plan to ${forWhat}`);
}

async function retryRun(session: Session, run: RunSummary, { replan = false, onOverlap, ...who }: RetryOptions) {
  const { workflowId, table, from, to } = run;
  const planId = demandPlan(run, 'go on with; start it again');
  const known = { ...(table && { table }), ...(from && { from }), ...(to && { to }), ...who };
  const memo = replan ? known : { ...known, planId };
  const what = table ? `${table} ${from ?? ''}..${to ?? ''}` : `plan ${planId}`;
  const input = { plan: planId, ...(replan && { replan }), ...(onOverlap && { onOverlap }), ...who };
  const summary = summaryText(`${what}, retry`, who.reason);
  return startRun(session, { workflowId, input, memo, summary }, replan ? undefined : { planId });
}

type Timestamp = { readonly seconds?: { toNumber(): number } | null } | null | undefined;

/** When the first execution of a run began that has continued as new since. */
function originalStart(time: Timestamp): Date | undefined {
  const seconds = time?.seconds?.toNumber();
  return seconds ? new Date(seconds * 1000) : undefined;
}
