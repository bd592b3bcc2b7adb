import { ApplicationFailure } from '@temporalio/activity';
import { BackfillError, FailureType } from '../domain/failure.js';
import type { Plan } from '../domain/plan.js';
import { spanOf } from '../domain/range.js';
import { type ClaimHolder, type Span, abandonRun, findHolders } from '../postgres/ledger/claims.js';
import type { RunIdentity } from '../postgres/ledger/admission.js';
import { endSessions } from '../postgres/sessions.js';
import { type Dependencies, demandDefinition, demandPlan, inLedger } from './dependencies.js';

/** How soon a waiting run looks again whether the range is free. */
const LOOK_AGAIN = '2 s';

/**
 * The open runs that keep others out of a range. A run whose execution is closed, terminated or gone is none of them,
 * and loses its claim: Temporal is asked, because time alone says nothing of a run that waits for its database.
 */
async function findLiveHolders(deps: Dependencies, span: Span, run: RunIdentity): Promise<ClaimHolder[]> {
  const holders = await inLedger(deps, (tx) => findHolders(tx, span, run));
  const live: ClaimHolder[] = [];
  for (const holder of holders) {
    if (await isLive(deps, holder, run)) live.push(holder);
    else await abandon(deps, holder);
  }
  return live;
}

async function isLive(deps: Dependencies, holder: ClaimHolder, run: RunIdentity): Promise<boolean> {
  // A reset that began again, with a plan of its own, ended what the execution did before.
  if (holder.executionId === run.executionId) return false;
  // Where nobody here can ask about it, what is not known to be gone holds its claim.
  return isLiveRun(deps, holder);
}

/** Whether the execution of an open run goes on, as far as anybody here can tell. */
export async function isLiveRun(deps: Dependencies, run: OpenRun): Promise<boolean> {
  return isElsewhere(deps, run) || (await deps.isRunning(run.workflowId, run.executionId));
}

type OpenRun = Pick<ClaimHolder, 'workflowId' | 'executionId' | 'namespace' | 'namespaceId'>;

function isElsewhere({ namespace }: Dependencies, holder: OpenRun): boolean {
  if (holder.namespaceId && namespace.id) return holder.namespaceId !== namespace.id;
  return holder.namespace !== null && holder.namespace !== namespace.name;
}

/** @throws {BackfillError} Overlap, naming the run, since when it is open, and who started it */
export async function demandUnclaimed(deps: Dependencies, span: Span, run: RunIdentity): Promise<void> {
  const [holder] = await findLiveHolders(deps, span, run);
  if (holder) throw overlap(deps, span.table, holder);
}

/** What a run of the plan claims. */
export function spanOfPlan(
  { definitions }: Dependencies,
  { table, from, to }: Pick<Plan, 'table' | 'from' | 'to'>,
): Span {
  return { table, ...spanOf(demandDefinition(definitions, table).partitioning, from, to) };
}

/** Fails, to be tried again soon, while others have a part of the range. The failure says who. */
export async function awaitUnclaimed(deps: Dependencies, run: RunIdentity): Promise<void> {
  const span = spanOfPlan(deps, await inLedger(deps, (tx) => demandPlan(tx, run.planId)));
  const [holder] = await findLiveHolders(deps, span, run);
  if (!holder) return;
  const { message, info } = overlap(deps, span.table, holder);
  throw ApplicationFailure.create({ type: info.type, message, details: [info], nextRetryDelay: LOOK_AGAIN });
}

/** Its last attempts may hold locks for as long as their SQL takes. */
async function abandon(deps: Dependencies, holder: ClaimHolder): Promise<void> {
  await inLedger(deps, async (tx) => {
    await endSessions(tx, holder.planId);
    await abandonRun(tx, holder);
  });
}

function overlap(deps: Dependencies, table: string, holder: ClaimHolder): BackfillError {
  const who = holder.requestedBy === null ? '' : `, started by ${holder.requestedBy}`;
  const why = holder.reason === null ? '' : ` (${holder.reason})`;
  return new BackfillError({
    type: FailureType.Overlap,
    message: `${table} ${holder.from} to ${holder.to} is being written by ${holder.workflowId}${who}${why}${remedy(deps, holder)}`,
  });
}

/** Where nobody here can tell whether it is gone, somebody who knows must be able to say so. */
function remedy(deps: Dependencies, holder: ClaimHolder): string {
  const choice = 'wait for it (onOverlap "wait"), or cancel it';
  if (!isElsewhere(deps, holder)) return `; ${choice}`;
  const place = `the Temporal namespace ${holder.namespace} (${holder.namespaceId ?? 'its id is not known'})`;
  const release = `update ${deps.database.ledger}.run set state = 'abandoned', closed_at = now() where plan_id = '${holder.planId}'`;
  return ` in ${place}, which is not this worker's; ${choice} there; where that Temporal is gone for good, release the range: ${release}`;
}
