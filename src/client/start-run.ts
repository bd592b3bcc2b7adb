import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowType } from '../contract.js';
import type { AnyRequest } from '../domain/request.js';
import { AlreadyRunning, NoWorker, RunNotFound } from './errors.js';
import { type RunSummary, summarize } from './run-summary.js';
import { type Session, call } from './session.js';
import { cutSummary } from './summary-text.js';
import { FIRST_TASK_MS, isTakenUp, requireWorker, sleep } from './worker-presence.js';

/** What is known of a run before it starts; it goes into its memo, so that the run can be told from the first moment. */
export interface KnownMemo {
  readonly table?: string;
  readonly from?: string;
  readonly to?: string;
  /** Set where the run is of a stored plan. */
  readonly planId?: string;
  /** Canonical; set where the run is of a new plan. */
  readonly request?: string;
  readonly reason?: string;
  readonly requestedBy?: string;
}

export interface RunToStart {
  readonly workflowId: string;
  readonly input: AnyRequest;
  readonly memo: KnownMemo;
  readonly summary: string;
}

/** By what an open run is recognised as the one that is wanted; undefined: it is never the same. */
export type Sameness = { readonly planId: string } | { readonly request: string } | undefined;

/** How long an open run that was started elsewhere may take to say what it was asked for. */
const MEMO_MS = 3_000;

/**
 * Starts a run, or attaches to the open one that was asked for the same.
 * @throws {AlreadyRunning} the open one was asked for something else
 * @throws {NoWorker} the run is open but nobody has taken it up
 */
export async function startRun(session: Session, run: RunToStart, sameness: Sameness): Promise<WorkflowHandle> {
  const deadline = Date.now() + FIRST_TASK_MS;
  await requireWorker(session);
  const handle = await startOrAttach(session, run, sameness);
  if (!(await isTakenUp(session, handle, deadline))) throw new NoWorker(session.taskQueue, run.workflowId);
  return handle;
}

async function startOrAttach(session: Session, run: RunToStart, sameness: Sameness): Promise<WorkflowHandle> {
  const { workflow } = session.client;
  const start = () => call(session, () => workflow.start(WorkflowType.backfill, startOptions(session, run)), run);
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) throw error;
    const open = await findSame(session, run.workflowId, sameness);
    // None: the open run ended between the refusal and the look at it, and the way is free.
    return open ? workflow.getHandle(run.workflowId) : start();
  }
}

function startOptions({ taskQueue }: Session, { workflowId, input, memo, summary }: RunToStart) {
  return {
    taskQueue,
    workflowId,
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    memo: { ...memo },
    staticSummary: cutSummary(summary),
  } as const;
}

/**
 * The open run of this workflow id when it was asked for the same; undefined when none is open.
 * @throws {AlreadyRunning} it was asked for something else
 */
export async function findSame(
  session: Session,
  workflowId: string,
  sameness: Sameness,
): Promise<RunSummary | undefined> {
  const open = await untilKnown(session, workflowId, sameness);
  if (open?.status !== 'running') return undefined;
  if (isSame(open, sameness)) return open;
  throw new AlreadyRunning(open);
}

/** A run started from Temporal's own CLI has no memo until it is planned. */
async function untilKnown(session: Session, workflowId: string, sameness: Sameness) {
  const deadline = Date.now() + MEMO_MS;
  for (;;) {
    const summary = await describeRun(session, workflowId);
    if (summary?.status !== 'running' || isKnown(summary, sameness) || Date.now() >= deadline) return summary;
    await sleep(250);
  }
}

async function describeRun(session: Session, workflowId: string): Promise<RunSummary | undefined> {
  const handle = session.client.workflow.getHandle(workflowId);
  try {
    return summarize(await call(session, () => handle.describe(), { workflowId }));
  } catch (error) {
    if (error instanceof RunNotFound) return undefined;
    throw error;
  }
}

function isKnown({ planId, request }: RunSummary, sameness: Sameness): boolean {
  return sameness === undefined || ('planId' in sameness ? planId !== null : request !== null);
}

function isSame({ planId, request }: RunSummary, sameness: Sameness): boolean {
  if (sameness === undefined) return false;
  return 'planId' in sameness ? sameness.planId === planId : sameness.request === request;
}
