import {
  ApplicationFailure,
  CancelledFailure,
  Client,
  Connection,
  WorkflowFailedError,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { asActivity } from '../../src/activities/failures.js';
import type { Activities } from '../../src/activities/index.js';
import { parseRequest } from '../../src/config/request.js';
import { TASK_QUEUE, WorkflowType } from '../../src/contract.js';
import { BackfillError, FailureType } from '../../src/domain/failure.js';
import { ensureSearchAttributes, workerOptions } from '../../src/worker.js';
import { createNamespace, quiet } from './harness.js';
import { World, type WorldOptions } from './workflow-world.js';

/** Names nobody's machine, so that histories can be kept. */
const IDENTITY = 'test';

/** The real workflows on the real server, with activities that work on worlds in memory. */
export interface WorkflowLab {
  readonly client: Client;
  createWorld(options: WorldOptions): World;
  /** @param input other than the world's own request */
  start(world: World, input?: readonly unknown[]): Promise<WorkflowHandleWithFirstExecutionRunId>;
  /** Starts a workflow with anything as its input. */
  startWith(...input: readonly unknown[]): Promise<WorkflowHandleWithFirstExecutionRunId>;
  close(): Promise<void>;
}

/** How a run ended that did not complete: the failure's type, words and details. */
export async function failureOf(handle: WorkflowHandleWithFirstExecutionRunId) {
  const error: unknown = await handle.result().then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(error instanceof WorkflowFailedError)) throw new Error(`The run did not fail: ${String(error)}`);
  const { cause } = error;
  const details = cause instanceof ApplicationFailure || cause instanceof CancelledFailure ? cause.details : [];
  return {
    status: (await handle.describe()).status.name,
    type: cause instanceof ApplicationFailure ? cause.type : cause?.name,
    message: cause?.message ?? '',
    details: details?.[0] as Record<string, unknown> | undefined,
  };
}

export async function createWorkflowLab(): Promise<WorkflowLab> {
  quiet();
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const namespace = await createNamespace(connection);
  await ensureSearchAttributes(native, namespace);
  const client = new Client({ connection, namespace, identity: IDENTITY });
  const worlds: World[] = [];
  const worker = await Worker.create({
    ...workerOptions(20),
    workflowBundle: { codePath: inject('workflowBundle') },
    connection: native,
    namespace,
    identity: IDENTITY,
    activities: activitiesOf(worlds),
  });
  const run = worker.run();
  let ids = 0;
  const startWith = (...input: readonly unknown[]) =>
    client.workflow.start(WorkflowType.backfill, {
      taskQueue: TASK_QUEUE,
      workflowId: `run-${++ids}`,
      args: [...input],
    });
  return {
    client,
    createWorld(options) {
      const world = new World(`mart.t${worlds.length + 1}`, options);
      worlds.push(world);
      return world;
    },
    start: (world, input = [world.request]) => startWith(...input),
    startWith,
    async close() {
      worker.shutdown();
      await run;
      await native.close();
      await connection.close();
    },
  };
}

/** Each call goes to the world of its table or plan. Wrapped as the product's are: heartbeats, failures by type. */
function activitiesOf(worlds: readonly World[]): Activities {
  const byPlan = new Map<string, World>();
  const ofTable = (table: string) => {
    const world = worlds.find((one) => one.table === table);
    if (world) return world;
    throw new BackfillError({ type: FailureType.UnknownTable, message: `${JSON.stringify(table)} is no table` });
  };
  const of = (planId: string) => {
    const world = byPlan.get(planId);
    if (!world) throw new BackfillError({ type: FailureType.InvalidRequest, message: `There is no plan ${planId}` });
    return world.activities;
  };
  return {
    makePlan: asActivity(async (input) => {
      const request = parseRequest(input.request);
      if ('undo' in request) throw new Error('There is nothing to undo here');
      if ('plan' in request) return of(request.plan).makePlan({ ...input, planId: request.plan });
      const world = ofTable(request.table);
      const plan = await world.activities.makePlan(input);
      byPlan.set(plan.planId, world);
      return plan;
    }),
    openRun: asActivity(async (input) => of(input.planId).openRun(input)),
    awaitUnclaimed: asActivity(async (input) => of(input.planId).awaitUnclaimed(input)),
    readWorkPage: asActivity(async (input) => of(input.planId).readWorkPage(input)),
    replacePartition: asActivity(async (input) => of(input.planId).replacePartition(input)),
    replacePartitions: asActivity(async (input) => of(input.planId).replacePartitions(input)),
    recordFailure: asActivity(async (input) => of(input.planId).recordFailure(input)),
    refreshStatistics: asActivity(async (input) => ofTable(input.table).activities.refreshStatistics(input)),
    verifyPage: asActivity(async (input) => of(input.planId).verifyPage(input)),
    closeRun: asActivity(async (input) => of(input.planId).closeRun(input)),
    readPlan: asActivity(async (input) => of(input.planId).readPlan(input)),
    readRun: asActivity(async (input) => of(input.planId).readRun(input)),
    readTables: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
    readHistory: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
    readPartitions: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
    readFailures: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
    checkDatabase: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
    planPrune: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
    findOverdue: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
    dropCopy: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
    pruneBatch: asActivity(() => Promise.reject(new Error('A world has no ledger'))),
  };
}
