import { randomUUID } from 'node:crypto';
import { type Context, asyncLocalStorage } from '@temporalio/activity';
import type { Dependencies } from '../../src/activities/dependencies.js';
import { inLedger } from '../../src/activities/dependencies.js';
import { makePlan } from '../../src/activities/make-plan.js';
import { openRun } from '../../src/activities/open-run.js';
import { verifyPage } from '../../src/activities/verify-page.js';
import { parseConfig } from '../../src/config/load.js';
import type { BackfillError } from '../../src/domain/failure.js';
import type { Difference, Replaced } from '../../src/domain/outcome.js';
import type { Plan } from '../../src/domain/plan.js';
import { openDatabase } from '../../src/postgres/database.js';
import { closeRun } from '../../src/postgres/ledger/runs.js';
import { replacePartition } from '../../src/postgres/replace.js';
import { isTransient, toBackfillError } from '../../src/postgres/sqlstate.js';
import type { TestDatabase } from './database.js';
import type { TableInput } from './harness.js';

export interface Range {
  readonly from: string;
  readonly to: string;
}

/** Instead of a range: what the run of a plan replaced, all of it or a part. */
export type Undoing = { readonly undo: string } & Partial<Range>;

/** A run that is open: its plan, and its partitions to be written in any order, as often as a test likes. */
export interface DirectRun {
  readonly plan: Plan;
  readonly keys: readonly string[];
  /** One attempt. Throws a BackfillError. */
  attempt(key: string, attempt?: number): Promise<Replaced>;
  /** Attempts until one is done, or meets an error that is final. */
  write(key: string): Promise<Replaced & { readonly attempts: number }>;
  lastRead(): Promise<readonly Difference[]>;
  close(): Promise<void>;
}

/** What a worker's activities do, in their order, without Temporal: for tests with many tables and runs. */
export interface Direct {
  plan(table: TableInput, range: Range | Undoing): Promise<Plan>;
  open(table: TableInput, range: Range | Undoing): Promise<DirectRun>;
  /** A whole run. */
  run(
    table: TableInput,
    range: Range | Undoing,
  ): Promise<{ readonly replaced: readonly Replaced[]; readonly plan: Plan }>;
  end(): Promise<void>;
}

const MOST_ATTEMPTS = 10;

export function openDirect(db: TestDatabase, size = 4): Direct {
  const database = openDatabase({ url: db.url, size });
  const depsFor = (table: TableInput): Dependencies => ({
    database,
    definitions: parseConfig({ tables: [table] }).definitions,
    now: () => new Date(),
    hasSearchAttributes: false,
    namespace: { name: 'none', id: '' },
    sources: new Map(),
    isRunning: async () => false,
    pageSize: 500,
  });
  const plan = (table: TableInput, range: Range | Undoing) => {
    const request = 'undo' in range ? range : { table: table.name, ...range };
    const input = { planId: randomUUID(), request };
    return asActivity(() => makePlan(depsFor(table), input));
  };
  const open = async (table: TableInput, range: Range | Undoing): Promise<DirectRun> => {
    const deps = depsFor(table);
    const made = await plan(table, range);
    const run = { planId: made.planId, executionId: randomUUID() };
    const opening = { ...run, workflowId: `direct ${run.planId}`, requestedBy: null, reason: null };
    await asActivity(() => openRun(deps, opening));
    const [definition] = deps.definitions;
    if (!definition) throw new Error('There is no definition');
    const attempt = (key: string, number = 1) =>
      asActivity(() => replacePartition(database, { definition, run, key, attempt: number, sources: new Map() }));
    return {
      plan: made,
      keys: made.partitions.map(({ key }) => key),
      attempt,
      async write(key) {
        for (let attempts = 1; ; attempts++) {
          try {
            return { ...(await attempt(key, attempts)), attempts };
          } catch (error) {
            if (!isTransient(error as BackfillError) || attempts === MOST_ATTEMPTS) throw error;
          }
        }
      },
      lastRead: async () => (await asActivity(() => verifyPage(deps, { planId: run.planId, after: 0 }))).differences,
      close: () => asActivity(() => inLedger(deps, (tx) => closeRun(tx, { ...run, state: 'completed' }))),
    };
  };
  return {
    plan,
    open,
    async run(table, range) {
      const run = await open(table, range);
      try {
        const replaced = [];
        for (const key of run.keys) replaced.push(await run.write(key));
        const differences = await run.lastRead();
        if (differences.length > 0) throw new Error(`The last read found ${JSON.stringify(differences)}`);
        return { replaced, plan: run.plan };
      } finally {
        await run.close();
      }
    },
    end: () => database.close(),
  };
}

function asActivity<T>(work: () => Promise<T>): Promise<T> {
  const context = { cancellationSignal: new AbortController().signal } as Context;
  return asyncLocalStorage.run(context, work).catch((error: unknown) => {
    throw toBackfillError(error);
  });
}
