import { digest } from '../config/digest.js';
import type { UndoRequest } from '../config/request.js';
import type { Definition } from '../domain/definition.js';
import { InvalidRequest } from '../domain/failure.js';
import { grainText } from '../domain/grain.js';
import { samePartitioning } from '../domain/keep.js';
import type { Decision } from '../domain/planning.js';
import type { RunOptions } from '../domain/request.js';
import { type UndoDecision, type Undoable, WHY_NOT_KEPT, decideUndo, describeRefused } from '../domain/undo.js';
import { type Kept, readKept, readUndoable } from '../postgres/ledger/kept.js';
import type { StoredPlan } from '../postgres/ledger/plans.js';
import { type RunRow, findRun } from '../postgres/ledger/runs.js';
import { type UndoneColumns, matchColumns } from '../postgres/kept/undone-columns.js';
import { undoDefinition } from '../postgres/kept/undo-build.js';
import { isLiveRun } from './claim.js';
import { type ComputedPlan, assemble, rangeOf, surveyTable } from './compute-plan.js';
import { type Dependencies, demandDefinition, demandPlan, inLedger } from './dependencies.js';

/** One after the other, oldest first, as a build of which nothing else is said; what had not ended then may be put back. */
const OPTIONS: RunOptions = {
  select: 'all',
  exclude: [],
  concurrency: 1,
  publish: 'in-order',
  onFailure: 'stop',
  allowIncomplete: true,
  allowDefinitionChange: false,
};

interface Undone {
  readonly plan: StoredPlan;
  readonly run: RunRow;
  readonly definition: Definition;
  readonly kept: Kept | null;
  readonly replacements: readonly Undoable[];
  readonly columns: UndoneColumns;
}

/**
 * Decides what putting back what a run replaced would do. Reads only.
 * @param only the keys that may be written; the others are left alone for the reason given
 * @throws {InvalidRequest} there is no such run, or its keys mean something else by today's definition
 */
export async function computeUndo(
  deps: Dependencies,
  request: UndoRequest,
  only?: { readonly keys: ReadonlySet<string>; readonly otherwise: string },
): Promise<ComputedPlan> {
  const undone = await readUndone(deps, request);
  const { plan, run, definition, kept, columns } = undone;
  const { from, to } = { from: request.from ?? plan.from, to: request.to ?? plan.to };
  const range = rangeOf(definition, { from, to, widen: false, exclude: [] });
  const { partitioning } = definition;
  const { sameRow, numbered, problems } = columns;
  const relation = kept && !kept.isDropped ? kept.relation : null;
  const undo = {
    planId: plan.planId,
    workflowId: run.workflowId,
    partitioning,
    relation,
    columns: columns.columns,
    numbered,
    sameRow,
  };
  const written = new Map(undone.replacements.map((one) => [one.key, one]));
  const isDiff = range.partitions.some(({ key }) => written.get(key)?.kept === 'differences');
  // Without a key by which they could be compared the survey refuses it.
  const form = isDiff && sameRow ? 'differences' : 'rows';
  const restoring = undoDefinition(definition, undo, { ledger: deps.database.ledger, form });
  // What is compared can be put back by comparing only; else it is written as the definition says.
  const found = await surveyTable(
    deps,
    isDiff ? { ...restoring, strategy: 'diff' } : restoring,
    range.partitions,
    false,
  );
  const decisions = range.partitions.map(({ key }, i): UndoDecision => {
    const facts = found.partitions[i];
    if (!facts) throw new Error(`The survey lacks ${key}`);
    if (only && !only.keys.has(key)) return { action: 'leave', why: only.otherwise };
    return decideUndo(written.get(key), facts);
  });
  const computed = await assemble(deps, {
    definition: restoring,
    definitionDigest: digest({ undo: plan.planId, partitioning }),
    buildDigest: digest({ undo: plan.planId }),
    range,
    options: OPTIONS,
    found,
    decisions: decisions.map(withoutRefusal),
    now: deps.now(),
    undo,
    requestedBy: request.requestedBy,
    reason: request.reason,
  });
  const refused = decisions.flatMap((decision, i) =>
    decision.action === 'refuse' ? [{ ...decision, key: range.partitions[i]?.key ?? '' }] : [],
  );
  const notKept = refused.some(({ why }) => why === WHY_NOT_KEPT) ? [whyNotKept(undone)] : [];
  return {
    ...computed,
    // A partition may be put back as it was before it had ended; that is recorded as it was, too.
    partitions: computed.partitions.map((one) => ({ ...one, provisional: false })),
    facts: { ...computed.facts, warnings: [...columns.warnings, ...computed.facts.warnings.filter(isOfUndo)] },
    refusals: [
      ...(await openProblem(deps, run)),
      ...problems,
      ...notKept,
      ...describeRefused(refused),
      ...computed.refusals,
    ],
  };
}

async function readUndone(deps: Dependencies, { undo }: UndoRequest): Promise<Undone> {
  const { plan, run, kept, replacements } = await inLedger(deps, async (tx) => ({
    plan: await demandPlan(tx, undo),
    run: await findRun(tx, undo),
    kept: await readKept(tx, undo),
    replacements: await readUndoable(tx, undo),
  }));
  if (!run) throw new InvalidRequest(`Plan ${undo} was never run, so that there is nothing to undo (request.undo)`);
  const definition = demandDefinition(deps.definitions, plan.table);
  if (kept && !samePartitioning(kept.partitioning, definition.partitioning)) {
    throw new InvalidRequest(
      `${plan.table} was cut by ${grainText(kept.partitioning)} in ${kept.partitioning.timeZone} on ${kept.partitioning.column} when ${run.workflowId} wrote it, and its definition says otherwise today: its keys mean other rows (request.undo)`,
    );
  }
  const columns = await inLedger(deps, (tx) => matchColumns(tx, definition, kept), { readOnly: true });
  return { plan, run, definition, kept, replacements, columns };
}

/** A run that still writes would go on behind the undo. */
async function openProblem(deps: Dependencies, run: RunRow): Promise<string[]> {
  if (run.state !== 'open' || !(await isLiveRun(deps, run))) return [];
  return [`${run.workflowId} is still open: cancel it, or wait for its end (request.undo)`];
}

function withoutRefusal(decision: UndoDecision): Decision {
  return decision.action === 'refuse' ? { action: 'leave', why: decision.why } : decision;
}

/** Of a table that is cumulative, or has later partitions, the build's words do not fit what is put back. */
function isOfUndo(warning: string): boolean {
  return !/ later partitions were built on the old rows;|^Has not ended yet/.test(warning);
}

function whyNotKept({ kept, run }: Undone): string {
  if (!kept)
    return `${run.workflowId} kept nothing of what it replaced (keepReplaced "0", or a worker of before there was an undo)`;
  return kept.isDropped
    ? `What ${run.workflowId} replaced was kept until ${kept.droppedAt && new Date(kept.droppedAt).toISOString()}, and is gone`
    : `${run.workflowId} has no copy of what it found there`;
}
