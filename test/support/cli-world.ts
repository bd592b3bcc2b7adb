import type { CliClient, CliIo, LocalDefinitions, Output } from '../../src/cli/io.js';
import { runCli } from '../../src/cli/program.js';
import type { BackfillHandle } from '../../src/client/backfill-handle.js';
import * as errors from '../../src/client/errors.js';
import type { RunSummary } from '../../src/client/run-summary.js';
import type { Finding } from '../../src/domain/finding.js';
import type { FailureRecord, HistoryEntry } from '../../src/domain/history.js';
import type { Plan } from '../../src/domain/plan.js';
import type { Progress } from '../../src/domain/progress.js';
import type { PruneResult } from '../../src/domain/prune.js';
import type { PartitionRecord, TableState } from '../../src/domain/table-state.js';

export const workflowId = 'backfill/mart.daily_revenue/2026-03-01..2026-03-02';
export const planId = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const range = ['mart.daily_revenue', '--from', '2026-03-01', '--to', '2026-03-02'];

export const plan: Plan = {
  planId,
  table: 'mart.daily_revenue',
  from: '2026-03-01',
  to: '2026-03-02',
  grain: 'day',
  timeZone: 'UTC',
  options: {
    select: 'all',
    exclude: [],
    concurrency: 1,
    publish: 'in-order',
    onFailure: 'stop',
    allowIncomplete: false,
    allowDefinitionChange: false,
  },
  digest: 'abcdef0123456789',
  definitionDigest: 'd',
  buildDigest: 'b',
  buildSql: 'select 1',
  strategy: 'delete-insert',
  strategyWhy: null,
  source: null,
  whenEmpty: 'fail',
  checks: [],
  impact: [],
  estimates: [],
  earlier: null,
  lastWrites: [],
  counts: { create: 0, replace: 2, leave: 0 },
  warnings: [],
  refusals: [],
  partitions: ['2026-03-01', '2026-03-02'].map((key, i) => ({
    seq: i + 1,
    key,
    action: 'replace' as const,
    rowsAbout: 7,
    bytes: 16_384,
    generation: 0,
  })),
  leftAlone: [],
  replaces: null,
  keep: { forMs: 604_800_000, bytes: 49_152, hasCopy: true },
  undoes: null,
  createdAt: '2026-03-15T10:00:00Z',
  requestedBy: null,
  reason: null,
};

export const closed: RunSummary = {
  workflowId,
  runId: 'run-id',
  status: 'completed',
  table: plan.table,
  from: plan.from,
  to: plan.to,
  planId,
  request: null,
  reason: null,
  requestedBy: null,
  startedAt: '2026-03-15T10:00:00.000Z',
  closedAt: '2026-03-15T10:01:00.000Z',
};
export const open: RunSummary = { ...closed, status: 'running', closedAt: null };

export const progress: Progress = {
  state: 'running',
  planId,
  table: plan.table,
  from: plan.from,
  to: plan.to,
  total: 2,
  done: 1,
  failed: 0,
  writing: ['2026-03-02'],
  oldestFailed: null,
  rate: null,
  secondsLeft: null,
  page: [],
  startedAt: '2026-03-15T10:00:00Z',
  waitingFor: null,
};

export const result = {
  planId,
  table: plan.table,
  from: plan.from,
  to: plan.to,
  partitions: 2,
  changes: null,
  rowsBefore: 14,
  rowsAfter: 14,
  emptied: [],
  keptUntil: '2026-03-22T10:02:00.000Z',
};

export function pruned(dryRun: boolean): PruneResult {
  const counts = { plans: 1200, planPartitions: 14_000, runs: 1100, replacements: 9000, failures: 3 };
  return { before: '2026-01-01T00:00:00.000Z', dryRun, counts };
}

export function partitionFailed(): errors.PartitionFailed {
  const oldest = { key: '2026-03-02', type: 'SqlFailed', message: 'duplicate key', sqlstate: '23505' } as const;
  return new errors.PartitionFailed({ planId, oldest, failed: 1, done: 1, total: 2 });
}

/** What a handle answers, call by call; the last answer stays. */
interface Script {
  readonly describe?: readonly (RunSummary | Error)[];
  readonly progress?: readonly (Progress | Error)[];
  readonly result?: typeof result | Error;
}

export const tableState: TableState = {
  name: 'mart.daily_revenue',
  description: 'Revenue a day',
  owner: 'finance',
  partitioning: { column: 'day', grain: 'day', timeZone: 'UTC' },
  digest: 'abcdef0123456789',
  exists: true,
  problem: null,
  partitions: 3,
  firstKey: '2026-03-01',
  lastKey: '2026-03-03',
  counts: { failed: 1, gone: 0, provisional: 0, outdated: 1, current: 1, unrecorded: 0 },
  openRuns: [
    {
      planId,
      workflowId,
      from: '2026-03-01',
      to: '2026-03-02',
      requestedBy: 'ada',
      openedAt: '2026-03-15T10:00:00.000Z',
    },
  ],
};

export const partitions: readonly PartitionRecord[] = (['current', 'outdated', 'failed'] as const).map((state, i) => ({
  key: `2026-03-0${i + 1}`,
  state,
  generation: 1,
  rows: 7,
  replacedAt: '2026-03-15T10:00:30.000Z',
}));

export const entry: HistoryEntry = {
  key: '2026-03-02',
  generation: 1,
  action: 'replaced',
  isCurrent: true,
  isOutdated: true,
  changes: null,
  undoes: null,
  undoneBy: null,
  rowsBefore: 7,
  rowsAfter: 7,
  planId,
  workflowId,
  requestedBy: 'ada',
  reason: 'currency bug',
  attempt: 1,
  startedAt: '2026-03-15T10:00:29.000Z',
  committedAt: '2026-03-15T10:00:30.000Z',
};

export const failure: FailureRecord = {
  key: '2026-03-02',
  at: '2026-03-15T10:00:30.000Z',
  attempt: 1,
  type: 'CheckFailed',
  message: '2026-03-02: check "unique: day, currency" found 1 group of rows that agree',
  check: 'unique: day, currency',
  sample: ['day=2026-03-02, currency=EUR'],
};

export const findings: readonly Finding[] = [
  { check: 'Temporal', level: 'ok', found: 'Server 1.31.2 at 127.0.0.1:7233' },
  {
    check: 'mart.daily_revenue',
    level: 'problem',
    found: 'The worker may not replace its rows',
    remedy: 'Run this as the owner of the table.',
    sql: ['grant insert, delete on table "mart"."daily_revenue" to loader;'],
  },
];

function play<T>(answers: readonly (T | Error)[]): () => Promise<T> {
  let at = 0;
  return async () => {
    const answer = answers[Math.min(at++, answers.length - 1)] as T | Error;
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

export interface World {
  readonly handle?: Script;
  readonly client?: Partial<CliClient>;
  readonly answer?: boolean;
  readonly tty?: boolean;
  readonly uiUrl?: string;
  /** Ctrl-C as soon as someone listens. */
  readonly interrupt?: boolean;
  readonly connectError?: Error;
  readonly env?: NodeJS.ProcessEnv;
  readonly local?: LocalDefinitions;
}

/** Runs a command line against a client that answers as it is told, and tells what was called. */
export async function run(args: readonly string[], world: World = {}) {
  const calls: [name: string, ...args: unknown[]][] = [];
  let [stdout, stderr] = ['', ''];
  const note = (name: string, ...given: unknown[]) => void calls.push([name, ...given]);
  const {
    describe: described = [closed],
    progress: progressed = [progress],
    result: ended = result,
  } = world.handle ?? {};
  const handle: BackfillHandle = {
    workflowId,
    describe: play(described),
    progress: play(progressed),
    result: play([ended]),
    cancel: async () => note('cancel'),
    retry: async (options) => (note('retry', options), handle),
    undo: async (options) => (note('undo', options), handle),
  };
  const client: CliClient = {
    namespace: 'default',
    address: '127.0.0.1:7233',
    plan: async (request) => (note('plan', request), plan),
    start: async (request, options) => (note('start', request, options), handle),
    undo: async (planId, request) => (note('undo', planId, request), handle),
    findOpen: async () => undefined,
    get: () => handle,
    list: async function* (filter) {
      note('list', filter);
      yield closed;
    },
    readPlan: async () => plan,
    readRun: async () => null,
    readFailures: async (...given) => (note('readFailures', ...given), { failures: [failure], next: null }),
    readTables: async () => ({ tables: [tableState], next: null }),
    readHistory: async (table, page) => (note('readHistory', table, page), { table, entries: [entry], next: null }),
    readPartitions: async (table) => ({ table, partitions, next: null }),
    doctor: async (target) => (note('doctor', target), [...findings]),
    prune: async (request) => (note('prune', request), pruned(request.dryRun ?? false)),
    close: async () => note('close'),
    ...world.client,
  };
  const output = (write: (text: string) => void): Output => ({ isTTY: world.tty ?? false, columns: 80, write });
  const io: CliIo = {
    stdout: output((text) => (stdout += text)),
    stderr: output((text) => (stderr += text)),
    canAnswer: world.tty ?? false,
    env: world.env ?? {},
    userName: 'ada',
    pollMs: 1,
    async connect() {
      if (world.connectError) throw world.connectError;
      return { client, uiUrl: world.uiUrl ?? null };
    },
    readLocalDefinitions: async () => world.local,
    confirm: async (question) => (note('confirm', question), world.answer ?? true),
    onInterrupt(listener) {
      if (world.interrupt) setTimeout(listener, 5);
      return () => undefined;
    },
  };
  return { exitCode: await runCli(args, io), stdout, stderr, calls, called: calls.map(([name]) => name) };
}
