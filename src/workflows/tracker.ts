import { setCurrentDetails, setHandler, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { OpenedRun } from '../activities/open-run.js';
import { type BackfillMemo, progressQuery, searchAttributePairs } from '../contract.js';
import { canonicalRequest, canonicalUndo } from '../domain/canonical-request.js';
import type { FailureInfo } from '../domain/failure.js';
import type { WorkPage } from '../domain/plan.js';
import {
  type Completions,
  type PartitionState,
  type Progress,
  type RunState,
  addRecent,
  estimate,
  progressMarkdown,
} from '../domain/progress.js';
import type { Carried } from './carried.js';

/** Keeps what people see of a run up to date: the query `progress`, the current details, memo and search attributes. */
export class Tracker {
  #state: RunState = 'planning';
  #run: OpenedRun | null;
  #done: number;
  #failures: Carried['failures'];
  #page = new Map<string, PartitionState>();
  readonly #asked: { readonly table: string; readonly from: string; readonly to: string };
  readonly #startedAt: number;
  #recent: readonly Completions[];
  #waitingFor: string | null = null;

  constructor(request: unknown, carried: Carried | undefined) {
    this.#asked = asked(request);
    this.#run = carried?.run ?? null;
    this.#done = carried?.done ?? 0;
    this.#failures = carried?.failures ?? { count: 0, oldest: null };
    this.#startedAt = carried?.startedAt ?? Date.now();
    this.#recent = carried?.recent ?? [{ at: this.#startedAt, count: 0 }];
    setHandler(progressQuery, () => this.progress(), { description: 'How far the run is' });
    if (carried) this.turnTo('running');
  }

  get failures(): Carried['failures'] {
    return this.#failures;
  }

  /** What continue-as-new carries over. */
  carry(run: OpenedRun, after: number): Carried {
    return { run, after, done: this.#done, failures: this.#failures, startedAt: this.#startedAt, recent: this.#recent };
  }

  opened(run: OpenedRun): void {
    this.#run = run;
    this.#done = run.done;
    this.#recent = [{ at: Date.now(), count: 0 }];
    upsertMemo({ ...memoOf(run) });
    this.turnTo('running');
  }

  /** @param forWhat a sentence */
  waits(forWhat: string): void {
    this.#waitingFor = forWhat;
    this.turnTo('waiting');
  }

  turnTo(state: RunState): void {
    this.#state = state;
    if (state !== 'waiting') this.#waitingFor = null;
    if (this.#run?.hasSearchAttributes) upsertSearchAttributes(searchAttributePairs(this.#run, state));
    this.#show();
  }

  openPage({ partitions }: WorkPage): void {
    this.#page = new Map(partitions.map(({ key, isDone }) => [key, isDone ? 'done' : 'waiting']));
    this.#show();
  }

  /** Of a slice one at a time is written: the first, as far as is known until it ends. */
  began(keys: readonly string[]): void {
    this.#mark(keys.slice(0, 1), 'writing');
  }

  /** @param count how many of them are done, from the first on; the others wait again */
  wrote(keys: readonly string[], count: number): void {
    this.#done += count;
    this.#recent = addRecent(this.#recent, { at: Date.now(), count });
    this.#mark(keys.slice(count), 'waiting');
    this.#mark(keys.slice(0, count), 'done');
  }

  failed(key: string, seq: number, info: FailureInfo): void {
    const { count, oldest } = this.#failures;
    // In plan order, not in the order of failing.
    const isOldest = oldest === null || seq < oldest.seq;
    this.#failures = { count: count + 1, oldest: isOldest ? { key, seq, info } : oldest };
    this.#mark([key], 'failed');
  }

  progress(): Progress {
    const { table, from, to } = this.#run ?? this.#asked;
    const total = this.#run?.total ?? 0;
    const oldest = this.#failures.oldest;
    return {
      state: this.#state,
      planId: this.#run?.planId ?? null,
      table,
      from,
      to,
      total,
      done: this.#done,
      failed: this.#failures.count,
      writing: [...this.#page].filter(([, state]) => state === 'writing').map(([key]) => key),
      oldestFailed: oldest && { key: oldest.key, type: oldest.info.type, message: oldest.info.message },
      // What an earlier execution wrote says nothing of this one's rate.
      ...estimate(this.#recent, total - this.#done),
      page: [...this.#page].map(([key, state]) => ({ key, state })),
      startedAt: new Date(this.#startedAt).toISOString(),
      waitingFor: this.#waitingFor,
    };
  }

  #mark(keys: readonly string[], state: PartitionState): void {
    for (const key of keys) this.#page.set(key, state);
    this.#show();
  }

  /** Costs no event of the history, so that it may follow every partition. */
  #show(): void {
    setCurrentDetails(progressMarkdown(this.progress(), workflowInfo().workflowId));
  }
}

function asked(request: unknown): { table: string; from: string; to: string } {
  const { table, from, to } = (request ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return { table: text(table), from: text(from), to: text(to) };
}

function memoOf(run: OpenedRun): BackfillMemo {
  const { planId, table, from, to, options, reason, requestedBy, undoes } = run;
  const request = undoes
    ? canonicalUndo({ undo: undoes, from, to })
    : canonicalRequest({ table, from, to, ...options });
  return { planId, table, from, to, request, reason, requestedBy };
}
