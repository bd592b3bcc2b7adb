import { randomUUID } from 'node:crypto';
import { TASK_QUEUE, WorkflowType } from '../../src/contract.js';
import type { BackfillResult } from '../../src/domain/outcome.js';
import type { Plan } from '../../src/domain/plan.js';
import type { BackfillRequest } from '../../src/domain/request.js';
import { runBackfill, runTemporal } from './commands.js';
import type { Harness } from './harness.js';

/** What someone who asks is told: the same words by every way in. */
export type Reply<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly type: string; readonly message: string };

/** A request as people send it: not always what the types allow. */
export type AnyRequest = Readonly<Record<string, unknown>>;

/** A way to plan and to run a backfill. */
export interface Entrance {
  readonly name: string;
  plan(harness: Harness, request: AnyRequest): Promise<Reply<Plan>>;
  run(harness: Harness, request: AnyRequest): Promise<Reply<BackfillResult>>;
}

const temporalCli: Entrance = {
  name: 'the Temporal CLI',
  plan: (harness, request) => execute<Plan>(harness, { type: WorkflowType.plan, inputs: [JSON.stringify(request)] }),
  run: (harness, request) =>
    execute<BackfillResult>(harness, { type: WorkflowType.backfill, inputs: [JSON.stringify(request)] }),
};

const backfillCli: Entrance = {
  name: 'the backfill CLI',
  plan: (harness, request) => command<Plan>(harness, 'plan', request, []),
  run: (harness, request) => command<BackfillResult>(harness, 'start', request, ['--yes']),
};

const client: Entrance = {
  name: 'the client',
  plan: (harness, request) => reply(() => harness.client.plan(asRequest(request))),
  run: (harness, request) =>
    reply(async () => {
      const handle = await harness.client.start(asRequest(request));
      return handle.result();
    }),
};

export const entrances: readonly Entrance[] = [temporalCli, backfillCli, client];

interface Execute {
  readonly type: string;
  /** JSON texts, one an argument of the workflow. */
  readonly inputs: readonly string[];
  readonly workflowId?: string;
}

/** Starts a workflow from the Temporal CLI with any text as its input, and waits for its end. */
export async function execute<T>(
  harness: Harness,
  { type, inputs, workflowId = `by-hand/${randomUUID()}` }: Execute,
): Promise<Reply<T>> {
  const args = ['--type', type, '--task-queue', TASK_QUEUE, '--workflow-id', workflowId, '--output', 'json'];
  const input = inputs.flatMap((text) => ['--input', text]);
  const { stdout, stderr } = await runTemporal(harness.env, 'workflow', 'execute', ...args, ...input);
  if (!stdout.startsWith('{')) throw new Error(`The Temporal CLI started nothing: ${stderr}`);
  return readExecution(JSON.parse(stdout) as Execution<T>);
}

interface Execution<T> {
  readonly status: string;
  readonly result?: T;
  readonly closeEvent?: {
    readonly workflowExecutionFailedEventAttributes?: {
      readonly failure: { readonly message: string; readonly applicationFailureInfo?: { readonly type: string } };
    };
  };
}

/** The Temporal CLI prints an empty list as null. */
function readExecution<T>({ status, result, closeEvent }: Execution<T>): Reply<T> {
  if (status === 'COMPLETED' && result !== undefined) return { ok: true, value: result };
  const failure = closeEvent?.workflowExecutionFailedEventAttributes?.failure;
  return { ok: false, type: failure?.applicationFailureInfo?.type ?? status, message: failure?.message ?? '' };
}

interface Printed<T> {
  readonly outcome?: string;
  readonly result?: T;
  readonly error?: { readonly name: string; readonly type?: string; readonly message: string };
}

async function command<T>(
  harness: Harness,
  name: string,
  request: AnyRequest,
  more: readonly string[],
): Promise<Reply<T>> {
  const ended = await runBackfill(harness.env, name, ...wordsOf(request), ...more, '--json');
  if (!ended.stdout.startsWith('{')) throw new Error(`The backfill CLI printed no JSON: ${ended.stderr}`);
  const printed = JSON.parse(ended.stdout) as Printed<T>;
  const { outcome, result, error } = printed;
  if (error) return { ok: false, type: error.type ?? error.name, message: error.message };
  return { ok: true, value: outcome === undefined ? (printed as T) : (result as T) };
}

/** `{ table: 'fact', onFailure: 'stop' }` as `fact --on-failure=stop`. */
function wordsOf({ table, ...options }: AnyRequest): string[] {
  const flags = Object.entries(options).map(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? flag : `${flag}=${String(value)}`;
  });
  return typeof table === 'string' ? [table, ...flags] : flags;
}

async function reply<T>(ask: () => Promise<T>): Promise<Reply<T>> {
  try {
    return { ok: true, value: await ask() };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, type: 'type' in error ? String(error.type) : error.name, message: error.message };
  }
}

function asRequest(request: AnyRequest): BackfillRequest {
  return request as unknown as BackfillRequest;
}

/** The value of a reply that must not be a refusal. */
export function valueOf<T>(given: Reply<T>): T {
  if (given.ok) return given.value;
  throw new Error(`${given.type}: ${given.message}`);
}
