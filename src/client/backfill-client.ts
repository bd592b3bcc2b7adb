import { type ReadInput, WorkflowType, backfillWorkflowId } from '../contract.js';
import { parseRequest } from '../config/request.js';
import { canonicalRequest, canonicalTable } from '../domain/canonical-request.js';
import type { RunRecord } from '../domain/outcome.js';
import type { Plan } from '../domain/plan.js';
import type { BackfillRequest, PlanRequest } from '../domain/request.js';
import { type BackfillHandle, createHandle } from './backfill-handle.js';
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
  async plan(request: BackfillRequest | PlanRequest): Promise<Plan> {
    const what = this.#check(request);
    const table = 'plan' in request ? request.plan : canonicalTable(request.table);
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
  async start(request: BackfillRequest | PlanRequest, options: StartOptions = {}): Promise<BackfillHandle> {
    const what = this.#check(request);
    const place = await this.#placeOf(request);
    const sameness = samenessOf(request);
    const { reason, requestedBy } = request;
    const memo = { ...place, ...sameness, ...(reason && { reason }), ...(requestedBy && { requestedBy }) };
    const workflowId = options.workflowId ?? backfillWorkflowId(place.table, place.from, place.to);
    const summary = summaryText('plan' in request ? `${place.table} ${place.from}..${place.to}` : what, reason);
    const handle = await startRun(this.#session, { workflowId, input: request, memo, summary }, sameness);
    return createHandle(this.#session, handle);
  }

  /**
   * The open run that {@link start} would attach to.
   * @throws {AlreadyRunning} one with this id is open and was asked for something else
   */
  async findOpen(request: BackfillRequest | PlanRequest, options: StartOptions = {}): Promise<RunSummary | undefined> {
    this.#check(request);
    const workflowId = options.workflowId ?? (await this.#defaultId(request));
    return findSame(this.#session, workflowId, samenessOf(request));
  }

  get(workflowId: string): BackfillHandle {
    return createHandle(this.#session, this.#session.client.workflow.getHandle(workflowId));
  }

  /** Latest first. */
  list(filter: RunFilter = {}): AsyncIterable<RunSummary> {
    return listRuns(this.#session, filter);
  }

  /** A page of a stored plan: up to 500 partitions after the one with this number. Null where no such plan is stored. */
  async readPlan(planId: string, page: { readonly after?: number } = {}): Promise<Plan | null> {
    const plan = await this.#read<Plan | null>({ what: 'plan', planId, ...page });
    return plan && this.#remember(plan);
  }

  /** What the ledger knows of the run of a plan. Null where the plan was never run. */
  readRun(planId: string): Promise<RunRecord | null> {
    return this.#read({ what: 'run', planId });
  }

  /** Ends the connection; not the one of a client that was given. */
  close(): Promise<void> {
    return this.#session.close();
  }

  #read<T>(input: ReadInput): Promise<T> {
    const workflowId = `backfill-read/${crypto.randomUUID()}`;
    const summary = `read the ${input.what} ${input.planId}`.slice(0, 100);
    return runHelper(this.#session, { type: WorkflowType.read, workflowId, input, timeoutMs: MINUTE_MS, summary });
  }

  /** Refuses a malformed request before anything is sent. Says in a few words what is asked for. */
  #check(request: BackfillRequest | PlanRequest): string {
    try {
      parseRequest(request);
    } catch (error) {
      throw translateError(error, { address: this.#session.address, workflowId: '' });
    }
    if ('plan' in request) return request.replan ? `${request.plan} anew` : request.plan;
    return `${canonicalTable(request.table)} ${request.from}..${request.to}`;
  }

  async #defaultId(request: BackfillRequest | PlanRequest): Promise<string> {
    const { table, from, to } = await this.#placeOf(request);
    return backfillWorkflowId(table, from, to);
  }

  async #placeOf(request: BackfillRequest | PlanRequest): Promise<Place> {
    if (!('plan' in request)) return { table: canonicalTable(request.table), from: request.from, to: request.to };
    const known = this.#places.get(request.plan) ?? (await this.readPlan(request.plan));
    if (!known) {
      throw new BackfillRefused('InvalidRequest', `No plan ${request.plan} is stored (request.plan)`);
    }
    return { table: known.table, from: known.from, to: known.to };
  }

  #remember(plan: Plan): Plan {
    this.#places.set(plan.planId, { table: plan.table, from: plan.from, to: plan.to });
    return plan;
  }
}

function samenessOf(request: BackfillRequest | PlanRequest): Sameness {
  if (!('plan' in request)) return { request: canonicalRequest(request) };
  return request.replan ? undefined : { planId: request.plan };
}
