import { BackfillError, FailureType, InvalidRequest } from '../domain/failure.js';
import type { Definition } from '../domain/definition.js';
import { type PlanBasis, findDrift } from '../domain/drift.js';
import type { Plan } from '../domain/plan.js';
import { actionOn } from '../domain/planning.js';
import { partitionOf } from '../domain/range.js';
import { isClaimed } from '../postgres/ledger/claims.js';
import { demandKept, startKeeping } from '../postgres/kept/start-keeping.js';
import { type StoredPlan, basisOf, readUnfinished } from '../postgres/ledger/plans.js';
import {
  type OpeningRun,
  type RunRow,
  type RunTotals,
  findRun,
  openRun as openInLedger,
  readTotals,
} from '../postgres/ledger/runs.js';
import { mapInTurns } from '../postgres/map-in-turns.js';
import { endSessions } from '../postgres/sessions.js';
import { demandUnclaimed, spanOfPlan } from './claim.js';
import { buildDigestOf, surveyTable, toStates } from './compute-plan.js';
import { computeUndo } from './compute-undo.js';
import { type Dependencies, demandDefinition, demandPlan, inLedger } from './dependencies.js';

export interface OpenRunInput {
  readonly planId: string;
  readonly workflowId: string;
  readonly executionId: string;
  readonly requestedBy: string | null;
  readonly reason: string | null;
}

/** What the workflow needs to know of the run, as small plain data that crosses continue-as-new. */
export interface OpenedRun {
  readonly planId: string;
  readonly executionId: string;
  readonly table: string;
  readonly from: string;
  readonly to: string;
  readonly options: Plan['options'];
  /** Partitions to write, and those that an earlier execution wrote. */
  readonly total: number;
  readonly done: number;
  readonly attemptMs: number;
  readonly partitionMs: number;
  readonly hasSearchAttributes: boolean;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  /** The plan whose run it undoes; runs of before there was an undo say nothing. */
  readonly undoes?: string | null;
}

/**
 * Opens the run of a plan, if what was reviewed is still what would run.
 * @throws {BackfillError} InvalidRequest (unknown, refused or completed plan), UnknownTable, PlanDrift, Overlap
 */
export async function openRun(deps: Dependencies, input: OpenRunInput): Promise<OpenedRun> {
  const read = await inLedger(deps, async (tx) => ({
    plan: await demandPlan(tx, input.planId),
    unfinished: await readUnfinished(tx, input.planId),
    run: await findRun(tx, input.planId),
  }));
  const { plan, unfinished, run } = read;
  if (plan.refusals.length > 0) throw new InvalidRequest(plan.refusals.join('\n'));
  const definition = demandDefinition(deps.definitions, plan.table);
  const span = spanOfPlan(deps, plan);
  demandNotCompleted(input, run);
  await demandUnclaimed(deps, span, input);
  const basis = basisOf(plan, unfinished);
  const now = plan.undo ? await undoBasis(deps, plan, basis) : await basisNow(deps, definition, basis);
  demandNoDrift(findDrift(basis, now.basis), now.problems);
  const opening = { ...input, table: plan.table, span, namespace: deps.namespace };
  const totals = await takeClaim(deps, { ...opening, definition, plan, run });
  const { table, from, to, options } = plan;
  return {
    planId: input.planId,
    executionId: input.executionId,
    table,
    from,
    to,
    options,
    total: totals.total,
    done: totals.done,
    attemptMs: definition.timeouts.attemptMs,
    partitionMs: definition.timeouts.partitionMs,
    hasSearchAttributes: deps.hasSearchAttributes,
    requestedBy: input.requestedBy ?? plan.requestedBy,
    reason: input.reason ?? plan.reason,
    undoes: plan.undoes?.planId ?? null,
  };
}

/** A run that is over can go on, unless it completed. */
function demandNotCompleted({ planId, executionId }: OpenRunInput, run: RunRow | null): void {
  if (run?.state !== 'completed' || run.executionId === executionId) return;
  throw new InvalidRequest(
    `Plan ${planId} was completed by ${run.workflowId}; plan the range again to do the work again (request.plan)`,
  );
}

interface Claiming {
  readonly definition: Definition;
  readonly plan: StoredPlan;
  /** As it was found; null where it was never open. */
  readonly run: RunRow | null;
}

/** Somebody may be faster between the look and here: then the claim's constraint says so. */
async function takeClaim(
  deps: Dependencies,
  { definition, plan, run, ...opening }: OpeningRun & Claiming,
): Promise<RunTotals> {
  const taken = inLedger(deps, async (tx) => {
    // A taken-over execution's last attempt may hold the run's row for as long as its SQL takes.
    if (run && run.executionId !== opening.executionId) await endSessions(tx, opening.planId);
    const opened = await openInLedger(tx, opening, run?.executionId ?? null);
    if (!opened) return undefined;
    // From here on a sweep sees that what this run puts back is needed.
    if (plan.undo) await demandKept(tx, plan.undo);
    await startKeeping(tx, definition, plan);
    return readTotals(tx, opening.planId);
  });
  const totals = await taken.catch((error: unknown) => {
    if (!isClaimed(error)) throw error;
    return undefined;
  });
  if (totals) return totals;
  await demandUnclaimed(deps, opening.span, opening);
  throw new BackfillError({ type: FailureType.Transient, message: 'Another run had the range for a moment' });
}

/** What a plan of now would be computed from, and what would stand against it that a difference does not say. */
export interface BasisNow {
  readonly basis: PlanBasis;
  readonly problems: readonly string[];
}

async function basisNow(deps: Dependencies, definition: Definition, planned: PlanBasis): Promise<BasisNow> {
  const partitions = await mapInTurns(planned.partitions, ({ key }) => partitionOf(definition.partitioning, key));
  const found = await surveyTable(deps, definition, partitions, false);
  const basis = {
    definitionDigest: definition.digest,
    buildDigest: buildDigestOf(definition, found),
    shape: found.facts.shape,
    partitions: found.partitions.map(({ key, home, leaf, generation }) => ({
      key,
      action: actionOn({ home }),
      generation,
      leafOid: leaf?.oid ?? null,
      leafFileNode: leaf?.fileNode ?? null,
    })),
  };
  return { basis, problems: [] };
}

/** The same of an undo, with what keeps it from being done now. */
async function undoBasis(deps: Dependencies, plan: StoredPlan, planned: PlanBasis): Promise<BasisNow> {
  const { from, to, undo } = plan;
  const request = { undo: undo?.planId ?? '', from, to, reason: null, requestedBy: null };
  const { definitionDigest, buildDigest, shape, partitions, refusals } = await computeUndo(deps, request);
  const now = toStates(partitions);
  // A run that was terminated may have been committing its last partition when the plan was made.
  const keys = new Set(planned.partitions.map(({ key }) => key));
  const late = now.filter(({ key }) => !keys.has(key)).map(({ key }) => `${key}: was written by that run`);
  return { basis: { definitionDigest, buildDigest, shape, partitions: now }, problems: [...refusals, ...late] };
}

function demandNoDrift(drift: readonly string[], problems: readonly string[]): void {
  const changed = [...problems, ...drift];
  if (changed.length === 0) return;
  const shown = changed.slice(0, 20);
  const more = changed.length - shown.length;
  throw new BackfillError({
    type: FailureType.PlanDrift,
    message: `The plan is out of date. Changed since: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}. Make a new plan`,
    sample: shown,
  });
}
