import type { Activities, FailedPartition } from '../../src/activities/index.js';
import { replaceSlice } from '../../src/activities/replace-slice.js';
import type { OpenedRun } from '../../src/activities/open-run.js';
import type { Difference } from '../../src/domain/outcome.js';
import type { Plan } from '../../src/domain/plan.js';
import type { RunOptions } from '../../src/domain/request.js';

export interface WorldOptions {
  readonly keys: readonly string[];
  readonly options?: Partial<RunOptions>;
  readonly pageSize?: number;
  readonly hasSearchAttributes?: boolean;
  readonly partitionMs?: number;
  /** Keys that an earlier execution wrote. */
  readonly done?: readonly string[];
  readonly differences?: readonly Difference[];
  /** What happens while a key is written. */
  readonly write?: (key: string, attempt: number) => Promise<void> | void;
  /** Activities that do something else; they may call those of the world. */
  readonly instead?: (world: World) => Partial<Activities>;
}

const ROWS = { rowsBefore: 100, rowsAfter: 90 };

/** A table, its plan and its ledger in memory: what the workflow's activities do, without a database. */
export class World {
  readonly table: string;
  /** What was called, in order: `replacePartition 2024-03-01`. */
  readonly calls: string[] = [];
  readonly failures: FailedPartition[] = [];
  readonly done: Set<string>;
  inFlight = 0;
  mostInFlight = 0;
  readonly #given: WorldOptions;
  readonly #options: RunOptions;

  constructor(table: string, given: WorldOptions) {
    this.table = table;
    this.#given = given;
    this.done = new Set(given.done);
    const defaults = { select: 'all', exclude: [], concurrency: 1, publish: 'in-order', onFailure: 'stop' } as const;
    this.#options = { ...defaults, allowIncomplete: false, allowDefinitionChange: false, ...given.options };
  }

  get from(): string {
    return this.#given.keys[0] ?? '2024-03-01';
  }

  get to(): string {
    return this.#given.keys.at(-1) ?? this.from;
  }

  get request() {
    return { table: this.table, from: this.from, to: this.to, ...this.#given.options };
  }

  /** The activities of this world, those `instead` included. */
  get activities(): Activities {
    return { ...this.own, ...this.#given.instead?.(this) };
  }

  readonly own: Activities = {
    makePlan: async ({ planId }) => {
      this.calls.push('makePlan');
      return this.#plan(planId);
    },
    openRun: async ({ planId, executionId, reason, requestedBy }) => {
      this.calls.push('openRun');
      return this.#run({ planId, executionId, reason, requestedBy });
    },
    awaitUnclaimed: async () => {
      this.calls.push('awaitUnclaimed');
    },
    readWorkPage: async ({ after }) => {
      const all = this.#given.keys.map((key, i) => ({ seq: i + 1, key, isDone: this.done.has(key) }));
      const size = this.#given.pageSize ?? 500;
      this.calls.push(`readWorkPage ${after}`);
      return { partitions: all.slice(after, after + size), hasMore: all.length > after + size };
    },
    replacePartition: async ({ key }) => {
      if (this.done.has(key)) return { key, status: 'already', ...ROWS, generation: 1, changes: null };
      const attempt = this.calls.push(`replacePartition ${key}`) && this.attemptsAt(key);
      this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
      try {
        await this.#given.write?.(key, attempt);
        this.done.add(key);
        return { key, status: 'replaced', ...ROWS, generation: 1, changes: null };
      } finally {
        this.inFlight--;
      }
    },
    replacePartitions: (slice) =>
      replaceSlice(slice, { attempt: 1, replace: (partition) => this.activities.replacePartition(partition) }),
    recordFailure: async (failure) => {
      this.calls.push(`recordFailure ${failure.key}`);
      this.failures.push(failure);
    },
    refreshStatistics: async () => {
      this.calls.push('refreshStatistics');
    },
    verifyPage: async ({ after }) => {
      this.calls.push(`verifyPage ${after}`);
      return { differences: [...(this.#given.differences ?? [])], next: null };
    },
    closeRun: async ({ state }) => {
      this.calls.push(`closeRun ${state}`);
      const { size } = this.done;
      const rows = { rowsBefore: size * ROWS.rowsBefore, rowsAfter: size * ROWS.rowsAfter };
      return { total: this.#given.keys.length, done: size, ...rows, changes: null, emptied: [], keptUntil: null };
    },
    readPlan: async ({ planId }) => this.#plan(planId),
    readRun: async () => null,
    readTables: async () => noLedger(),
    readHistory: async () => noLedger(),
    readPartitions: async () => noLedger(),
    readFailures: async () => noLedger(),
    checkDatabase: async () => noLedger(),
    planPrune: async () => noLedger(),
    findOverdue: async () => noLedger(),
    dropCopy: async () => noLedger(),
    pruneBatch: async () => noLedger(),
  };

  attemptsAt(key: string): number {
    return this.calls.filter((call) => call === `replacePartition ${key}`).length;
  }

  #plan(planId: string): Plan {
    const { table, from, to } = this;
    const partition = { action: 'replace', rowsAbout: 100, bytes: 8192, generation: 0 } as const;
    return {
      planId,
      table,
      from,
      to,
      grain: 'day',
      timeZone: 'UTC',
      options: this.#options,
      digest: 'digest',
      definitionDigest: 'definition',
      buildDigest: 'build',
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
      counts: { create: 0, replace: this.#given.keys.length, leave: 0 },
      warnings: [],
      refusals: [],
      // The first page, as the ledger gives it.
      partitions: this.#given.keys.slice(0, 500).map((key, i) => ({ seq: i + 1, key, ...partition })),
      leftAlone: [],
      replaces: null,
      keep: { forMs: 604_800_000, bytes: 49_152, hasCopy: true },
      undoes: null,
      createdAt: '2024-04-01T00:00:00.000Z',
      requestedBy: null,
      reason: null,
    };
  }

  #run(run: Pick<OpenedRun, 'planId' | 'executionId' | 'reason' | 'requestedBy'>): OpenedRun {
    const { table, from, to } = this;
    return {
      ...run,
      table,
      from,
      to,
      options: this.#options,
      total: this.#given.keys.length,
      done: this.done.size,
      attemptMs: 60_000,
      partitionMs: this.#given.partitionMs ?? 3_600_000,
      hasSearchAttributes: this.#given.hasSearchAttributes ?? true,
    };
  }
}

function noLedger(): never {
  throw new Error('A world has no ledger');
}

/** A place at which an activity waits until the test lets it go on. */
export class Gate {
  #open: () => void = () => {};
  #arrive: () => void = () => {};
  readonly opened = new Promise<void>((resolve) => (this.#open = resolve));
  readonly reached = new Promise<void>((resolve) => (this.#arrive = resolve));
  async pass(): Promise<void> {
    this.#arrive();
    await this.opened;
  }
  open(): void {
    this.#open();
  }
}
