import { type NewPlanRequest, type StoredPlanRequest, parseRequest } from '../config/request.js';
import type { Plan } from '../domain/plan.js';
import { type StoredPlan, readPlan, readUnfinished, storePlan } from '../postgres/ledger/plans.js';
import { computePlan } from './compute-plan.js';
import { computeUndo } from './compute-undo.js';
import { type Dependencies, demandDefinition, demandPlan, inLedger } from './dependencies.js';

export interface MakePlanInput {
  /** Drawn by the caller, so that a repeated attempt stores the plan once. */
  readonly planId: string;
  /** As it came: from the Temporal CLI it may be anything. */
  readonly request: unknown;
}

/**
 * Stores a plan for a request and returns it with its first page; a request for a stored plan returns that one.
 * @throws {BackfillError} InvalidRequest or UnknownTable
 */
export async function makePlan(deps: Dependencies, { planId, request: input }: MakePlanInput): Promise<Plan> {
  const request = parseRequest(input);
  if ('undo' in request) return store(deps, { ...(await computeUndo(deps, request)), planId, replaces: null });
  if (!('plan' in request)) return planAnew(deps, planId, request);
  return request.replan ? replan(deps, planId, request) : readShown(deps, request.plan);
}

async function planAnew(deps: Dependencies, planId: string, request: NewPlanRequest): Promise<Plan> {
  const definition = demandDefinition(deps.definitions, request.table);
  const computed = await computePlan(deps, definition, request);
  return store(deps, { ...computed, planId, replaces: null });
}

/** The unfinished partitions of a plan, by today's definition. */
async function replan(
  deps: Dependencies,
  planId: string,
  { plan: oldId, reason, requestedBy }: StoredPlanRequest,
): Promise<Plan> {
  const old = await readShown(deps, oldId);
  const definition = demandDefinition(deps.definitions, old.table);
  const unfinished = await inLedger(deps, (tx) => readUnfinished(tx, oldId));
  const only = { keys: new Set(unfinished.map(({ key }) => key)), otherwise: `not open in plan ${oldId}` };
  if (old.undoes) {
    const { planId: undo } = old.undoes;
    const who = { reason: reason ?? old.reason, requestedBy: requestedBy ?? old.requestedBy };
    const computed = await computeUndo(deps, { undo, from: old.from, to: old.to, ...who }, only);
    return store(deps, { ...computed, planId, replaces: oldId });
  }
  // What was selected then is what is meant now, also where a selection would find less today.
  const { table, from, to } = old;
  const request = {
    ...old.options,
    // A plan of before there was the option has none.
    allowDefinitionChange: old.options.allowDefinitionChange ?? false,
    select: 'all',
    table,
    from,
    to,
    widen: false,
    reason: reason ?? old.reason,
    requestedBy: requestedBy ?? old.requestedBy,
  } as const;
  const computed = await computePlan(deps, definition, request, only);
  return store(deps, { ...computed, planId, replaces: oldId });
}

async function store(deps: Dependencies, plan: Parameters<typeof storePlan>[1]): Promise<Plan> {
  return inLedger(deps, async (tx) => {
    await storePlan(tx, plan);
    const stored = await readPlan(tx, plan.planId);
    if (!stored) throw new Error(`Plan ${plan.planId} was stored and is not there`);
    return withoutShape(stored);
  });
}

async function readShown(deps: Dependencies, planId: string): Promise<Plan> {
  return withoutShape(await inLedger(deps, (tx) => demandPlan(tx, planId)));
}

function withoutShape({ shape: _shape, columnType: _type, undo: _undo, ...plan }: StoredPlan): Plan {
  return plan;
}
