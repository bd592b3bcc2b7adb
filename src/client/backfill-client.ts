import type { WorkflowHandle } from '@temporalio/client';
import { type ReadAnswers, type ReadInput, WorkflowType, backfillWorkflowId, undoWorkflowId } from '../contract.js';
import { parseRequest } from '../config/request.js';
import { canonicalRequest, canonicalTable, canonicalUndo } from '../domain/canonical-request.js';
import type { DoctorTarget, Finding } from '../domain/finding.js';
import type { FailuresPage, HistoryCursor, HistoryPage } from '../domain/history.js';
import type { RunRecord } from '../domain/outcome.js';
import type { Plan } from '../domain/plan.js';
import type { PruneRequest, PruneResult } from '../domain/prune.js';
import { type AnyRequest, type UndoRequest, isOfStoredPlan, isOfUndo } from '../domain/request.js';
import type { PartitionsPage, TablesPage } from '../domain/table-state.js';
import { type BackfillHandle, createHandle } from './backfill-handle.js';
import { examine } from './doctor.js';
import { BackfillRefused } from './errors.js';
import { runHelper } from './helper-workflow.js';
import { type RunFilter, listRuns } from './list-runs.js';
import type { RunSummary } from './run-summary.js';
import { type ConnectOptions, type Session, openSession } from './session.js';
import { type Sameness, findSame, startRun } from './start-run.js';
import { cutSummary, summaryText } from './summary-text.js';
import { translateError } from './translate.js';

export interface StartOptions {
  /** Default: made of table and range, so that a range has one open run. */
  readonly workflowId?: string | undefined;
}

interface Place {
  readonly table: string;
  readonly from: string;
  readonly to: string;
  /** Of a plan that undoes the run of another one. */
  readonly isUndo?: boolean;
}

const MINUTE_MS = 60_000;

/** Plans, starts and watches backfills. It speaks to Temporal only, never to the database. */
export class BackfillClient {
  readonly #session: Session;
  /** Of the plans seen here, so that starting one just shown does not read it again. */
  readonly #places = new Map<string, Place>();

  private constructor(session: Session) {
    this.#session = session;
  }

  /** Connects as Temporal's own tools do: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_PROFILE` … */
  static async connect(options: ConnectOptions = {}): Promise<BackfillClient> {
    return new BackfillClient(await openSession(options));
  }

  get namespace(): string {
    return this.#session.client.options.namespace;
  }

  get address(): string {
    return this.#session.address;
  }

  /** Plans, stores the plan, and writes nothing else. */
  async plan(request: AnyRequest): Promise<Plan> {
    const what = this.#check(request);
    const table = isOfUndo(request)
      ? request.undo
      : isOfStoredPlan(request)
        ? request.plan
        : canonicalTable(request.table);
    return this.#remember(
      await runHelper<Plan>(this.#session, {
        type: WorkflowType.plan,
        workflowId: `backfill-plan/${table}/${crypto.randomUUID()}`,
        input: request,
        timeoutMs: 10 * MINUTE_MS,
        summary: cutSummary(summaryText(`plan ${what}`, request.reason)),
      }),
    );
  }

  /** Starts a run; attaches when the same one is open. */
  async start(request: AnyRequest, options: StartOptions = {}): Promise<BackfillHandle> {
    const what = this.#check(request);
    const place = await this.#placeOf(request);
    const sameness = samenessOf(request, place);
    const { reason, requestedBy } = request;
    const { table, from, to } = place;
    const memo = { table, from, to, ...sameness, ...(reason && { reason }), ...(requestedBy && { requestedBy }) };
    const workflowId = options.workflowId ?? defaultId(place);
    const summary = summaryText(
      isOfStoredPlan(request) ? `${place.isUndo ? 'undo ' : ''}${table} ${from}..${to}` : what,
      reason,
    );
    const handle = await startRun(this.#session, { workflowId, input: request, memo, summary }, sameness);
    return this.#handleOf(handle);
  }

  /**
   * Puts back what the run of a plan replaced: all of it, or a range. What that would do, {@link plan} shows.
   * @throws {BackfillRefused} by `result()`, where something has written since, or what was replaced is not kept any more
   */
  undo(planId: string, request: Omit<UndoRequest, 'undo'> = {}, options: StartOptions = {}): Promise<BackfillHandle> {
    return this.start({ undo: planId, ...request }, options);
  }

  /**
   * The open run that {@link start} would attach to.
   * @throws {AlreadyRunning} one with this id is open and was asked for something else
   */
  async findOpen(request: AnyRequest, options: StartOptions = {}): Promise<RunSummary | undefined> {
    this.#check(request);
    const place = await this.#placeOf(request);
    return findSame(this.#session, options.workflowId ?? defaultId(place), samenessOf(request, place));
  }

  get(workflowId: string): BackfillHandle {
    return this.#handleOf(this.#session.client.workflow.getHandle(workflowId));
  }

  /** Latest first. */
  list(filter: RunFilter = {}): AsyncIterable<RunSummary> {
    return listRuns(this.#session, filter);
  }

  /** A page of a stored plan: up to 500 partitions after the one with this number. Null where no such plan is stored. */
  async readPlan(planId: string, page: { readonly after?: number } = {}): Promise<Plan | null> {
    const plan = await this.#read({ what: 'plan', planId, ...page });
    return plan && this.#remember(plan);
  }

  /** What the ledger knows of the run of a plan. Null where the plan was never run. */
  readRun(planId: string): Promise<RunRecord | null> {
    return this.#read({ what: 'run', planId });
  }

  /** A page of the partitions on which the run of a plan gave up, in the order of the plan. */
  readFailures(planId: string, page: { readonly after?: number } = {}): Promise<FailuresPage> {
    return this.#read({ what: 'failed', planId, ...page });
  }

  /** A page of the worker's definitions, each with what the database has of its table. */
  readTables(page: { readonly after?: number } = {}): Promise<TablesPage> {
    return this.#read({ what: 'tables', ...page });
  }

  /** A page of who wrote what of a table when, newest first; of one partition where its key is given. */
  readHistory(
    table: string,
    page: { readonly key?: string; readonly before?: HistoryCursor } = {},
  ): Promise<HistoryPage> {
    return this.#read({ what: 'history', table, ...page });
  }

  /** A page of the partitions of a table, oldest first, each with what the ledger says of it. */
  readPartitions(table: string, page: { readonly after?: string } = {}): Promise<PartitionsPage> {
    return this.#read({ what: 'partitions', table, ...page });
  }

  /** Looks for what stands in the way of backfills, in Temporal and, where a worker answers, in the database. */
  doctor(target: DoctorTarget = {}): Promise<Finding[]> {
    return examine(this.#session, target, (question) => this.#read({ what: 'doctor', ...question }));
  }

  /** Deletes old rows of the ledger, or counts them (`dryRun`). Open runs, and what is newest, stay. */
  prune(request: PruneRequest): Promise<PruneResult> {
    const what = 'olderThan' in request ? `older than ${request.olderThan}` : `before ${request.before}`;
    return runHelper(this.#session, {
      type: WorkflowType.prune,
      workflowId: `backfill-prune/${crypto.randomUUID()}`,
      input: request,
      timeoutMs: request.dryRun ? 10 * MINUTE_MS : 1440 * MINUTE_MS,
      summary: cutSummary(`${request.dryRun ? 'count' : 'delete'} ledger rows ${what}`),
    });
  }

  /** Ends the connection; not the one of a client that was given. */
  close(): Promise<void> {
    return this.#session.close();
  }

  #handleOf(handle: WorkflowHandle): BackfillHandle {
    return createHandle(this.#session, handle, (planId, options) => this.undo(planId, options));
  }

  #read<W extends ReadInput['what']>(input: ReadInput & { readonly what: W }): Promise<ReadAnswers[W]> {
    const workflowId = `backfill-read/${crypto.randomUUID()}`;
    const about = 'planId' in input ? input.planId : ('table' in input && input.table) || '';
    const summary = cutSummary(`read: ${input.what} ${about}`.trim());
    return runHelper(this.#session, { type: WorkflowType.read, workflowId, input, timeoutMs: MINUTE_MS, summary });
  }

  /** Refuses a malformed request before anything is sent. Says in a few words what is asked for. */
  #check(request: AnyRequest): string {
    try {
      parseRequest(request);
    } catch (error) {
      throw translateError(error, { address: this.#session.address, workflowId: '' });
    }
    if (isOfUndo(request)) return `undo of ${request.undo}`;
    if (isOfStoredPlan(request)) return request.replan ? `${request.plan} anew` : request.plan;
    return `${canonicalTable(request.table)} ${request.from}..${request.to}`;
  }

  async #placeOf(request: AnyRequest): Promise<Place> {
    if (isOfUndo(request)) {
      const { table, from, to } = await this.#placeOfPlan(request.undo, 'request.undo');
      return { table, from: request.from ?? from, to: request.to ?? to, isUndo: true };
    }
    if (isOfStoredPlan(request)) return this.#placeOfPlan(request.plan, 'request.plan');
    return { table: canonicalTable(request.table), from: request.from, to: request.to };
  }

  async #placeOfPlan(planId: string, field: string): Promise<Place> {
    const known = this.#places.get(planId);
    if (known) return known;
    const plan = await this.readPlan(planId);
    if (!plan) throw new BackfillRefused('InvalidRequest', `No plan ${planId} is stored (${field})`);
    return placeOf(plan);
  }

  #remember(plan: Plan): Plan {
    this.#places.set(plan.planId, placeOf(plan));
    return plan;
  }
}

function placeOf({ table, from, to, undoes }: Plan): Place {
  return { table, from, to, ...(undoes && { isUndo: true }) };
}

function defaultId({ table, from, to, isUndo }: Place): string {
  return isUndo ? undoWorkflowId(table, from, to) : backfillWorkflowId(table, from, to);
}

function samenessOf(request: AnyRequest, { from, to }: Place): Sameness {
  if (isOfUndo(request)) return { request: canonicalUndo({ undo: request.undo, from, to }) };
  if (!isOfStoredPlan(request)) return { request: canonicalRequest(request) };
  return request.replan ? undefined : { planId: request.plan };
}
