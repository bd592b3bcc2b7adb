import type { BackfillHandle } from '../client/backfill-handle.js';
import type { RunSummary } from '../client/run-summary.js';
import { exitCodes } from '../domain/outcome.js';
import { outcomeLines } from '../report/outcome-text.js';
import { shellWord } from '../report/shell-word.js';
import { INTERRUPTED, printError } from './exit.js';
import { type CliConnection, type CliIo, printJson, printLines } from './io.js';
import { type ProgressView, createView } from './progress-view.js';
import { type Settled, settle } from './run-end.js';
import { watchRun } from './watch-run.js';

export interface FollowFlags {
  readonly json?: boolean;
  readonly detach?: boolean;
}

/** After a start: says where the run is and leaves, or watches it to its end. */
export function follow(cli: Following, flags: FollowFlags): Promise<number> {
  return flags.detach ? leave(cli, flags) : watchToEnd(cli, flags);
}

export interface Following {
  readonly io: CliIo;
  readonly connection: CliConnection;
  readonly handle: BackfillHandle;
}

async function leave({ io, connection, handle }: Following, { json }: FollowFlags): Promise<number> {
  const run = await handle.describe();
  const { workflowId, planId } = run;
  const link = linkTo(connection, run);
  if (json) printJson(io, { workflowId, planId, outcome: 'started', link });
  else printLines(io.stdout, [`Started ${workflowId}`, ...(link ? [`  ${link}`] : []), ...howToGoOn(workflowId)]);
  return exitCodes.completed;
}

/** Shows a run until it has ended, prints how, and gives the exit code. Ctrl-C ends the watching only. */
export async function watchToEnd({ io, connection, handle }: Following, { json }: FollowFlags): Promise<number> {
  const run = await untilEnded(io, handle, createView(json ? { write: (text) => io.stderr.write(text) } : io.stdout));
  if (!run) {
    const { workflowId } = handle;
    if (json) printJson(io, { workflowId, outcome: 'detached' });
    printLines(json ? io.stderr : io.stdout, [`Run ${workflowId} goes on.`, ...howToGoOn(workflowId)]);
    return INTERRUPTED;
  }
  const settled = await settle(handle);
  printEnd(io, { run, settled, link: linkTo(connection, run) }, json === true);
  return settled.exitCode;
}

/** Undefined: Ctrl-C came first. */
export async function untilEnded(
  io: CliIo,
  handle: BackfillHandle,
  view: ProgressView,
): Promise<RunSummary | undefined> {
  const watching = new AbortController();
  const dispose = io.onInterrupt(() => watching.abort());
  try {
    return await watchRun(handle, view, { pollMs: io.pollMs, signal: watching.signal });
  } finally {
    dispose();
  }
}

interface Ended {
  readonly run: RunSummary;
  readonly settled: Settled;
  readonly link: string | null;
}

export function printEnd(io: CliIo, { run, settled, link }: Ended, json: boolean): void {
  const { workflowId, planId } = run;
  if (json) printJson(io, { workflowId, planId, outcome: settled.outcome, link, ...settled.json });
  else printLines(io.stdout, outcomeLines(settled.end, { workflowId, link, planId }));
  // On a terminal the reader has it before their eyes; in a log of errors alone it would be missing.
  const isRead = !json && io.stdout.isTTY && io.stderr.isTTY;
  if (settled.error !== undefined && !isRead) io.stderr.write(printError(settled.error, io.env));
}

/** The run in the Web UI. */
export function linkTo({ client, uiUrl }: CliConnection, { workflowId, runId }: RunSummary): string | null {
  if (uiUrl === null) return null;
  const run = `${encodeURIComponent(workflowId)}/${encodeURIComponent(runId)}`;
  return `${uiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(client.namespace)}/workflows/${run}/history`;
}

function howToGoOn(workflowId: string): string[] {
  const id = shellWord(workflowId);
  return [`  watch it:   backfill watch ${id}`, `  cancel it:  backfill cancel ${id}`];
}
