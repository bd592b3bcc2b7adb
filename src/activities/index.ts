import { Context } from '@temporalio/activity';
import type { FailureInfo } from '../domain/failure.js';
import type { RunRecord } from '../domain/outcome.js';
import type { Plan, WorkPage } from '../domain/plan.js';
import type { Tx } from '../postgres/database.js';
import { readPlan, readWorkPage } from '../postgres/ledger/plans.js';
import type { RunIdentity } from '../postgres/ledger/admission.js';
import { recordFailure as recordInLedger } from '../postgres/ledger/replacements.js';
import { type RunTotals, closeRun as closeInLedger, readRun, readTotals } from '../postgres/ledger/runs.js';
import { replacePartition as replaceInDatabase } from '../postgres/replace.js';
import { checkDatabase } from './check-database.js';
import { awaitUnclaimed } from './claim.js';
import { type Dependencies, demandDefinition, demandPlanId, inLedger } from './dependencies.js';
import { asActivity } from './failures.js';
import { makePlan, type MakePlanInput } from './make-plan.js';
import { createObserver } from './observe.js';
import { openRun, type OpenRunInput } from './open-run.js';
import { planPrune, pruneBatch } from './prune.js';
import { readFailures, readPartitions, readTableHistory, readTables } from './reads.js';
import { type PartitionInput, type Replace, type SliceInput, replaceSlice } from './replace-slice.js';
import { type RefreshInput, refreshStatistics } from './refresh-statistics.js';
import { dropCopy, findOverdue } from './sweep.js';
import { verifyPage } from './verify-page.js';

export interface FailedPartition extends Omit<PartitionInput, 'executionId'> {
  readonly info: FailureInfo;
  readonly attempt: number;
}

export interface PageInput {
  readonly planId: string;
  /** A position in the plan: the page begins after it. */
  readonly after: number;
}

export type Activities = ReturnType<typeof createActivities>;

/** The activities of a worker. Workflows see their type only. */
export function createActivities(deps: Dependencies) {
  const ledger = <T>(work: (tx: Tx) => Promise<T>) => inLedger(deps, work);
  const observer = createObserver();
  const replace: Replace = ({ table, key, ...run }, attempt) => {
    const { cancellationSignal: signal } = Context.current();
    const definition = demandDefinition(deps.definitions, table);
    const replacement = { definition, run, key, attempt, sources: deps.sources, signal };
    return observer.replacing({ planId: run.planId, table, key }, () => replaceInDatabase(deps.database, replacement));
  };
  return {
    makePlan: asActivity((input: MakePlanInput) => makePlan(deps, input)),

    openRun: asActivity((input: OpenRunInput) => openRun(deps, input)),

    awaitUnclaimed: asActivity((run: RunIdentity) => awaitUnclaimed(deps, run)),

    readWorkPage: asActivity(({ planId, after }: PageInput): Promise<WorkPage> =>
      ledger((tx) => readWorkPage(tx, planId, after, deps.pageSize)),
    ),

    replacePartition: asActivity((partition: PartitionInput) => replace(partition, Context.current().info.attempt)),

    /** Small partitions of a long run, see `replaceSlice`. */
    replacePartitions: asActivity((slice: SliceInput) =>
      replaceSlice(slice, { attempt: Context.current().info.attempt, replace }),
    ),

    recordFailure: asActivity(async ({ info, attempt, ...partition }: FailedPartition): Promise<void> => {
      await ledger((tx) => recordInLedger(tx, { ...partition, info, attempt }));
      observer.failed(partition, { info, attempt });
    }),

    verifyPage: asActivity((input: PageInput) => verifyPage(deps, input)),

    refreshStatistics: asActivity((input: RefreshInput) => refreshStatistics(deps, input)),

    closeRun: asActivity((run: Parameters<typeof closeInLedger>[1]): Promise<RunTotals> =>
      ledger(async (tx) => {
        await closeInLedger(tx, run);
        return readTotals(tx, run.planId);
      }),
    ),

    readPlan: asActivity(({ planId, after }: PageInput): Promise<Plan | null> =>
      ledger((tx) => readPlan(tx, demandPlanId(planId), after)),
    ),

    readRun: asActivity(({ planId }: { readonly planId: string }): Promise<RunRecord | null> =>
      ledger((tx) => readRun(tx, demandPlanId(planId))),
    ),

    readTables: asActivity((input: Parameters<typeof readTables>[1]) => readTables(deps, input)),

    readHistory: asActivity((input: Parameters<typeof readTableHistory>[1]) => readTableHistory(deps, input)),

    readPartitions: asActivity((input: Parameters<typeof readPartitions>[1]) => readPartitions(deps, input)),

    readFailures: asActivity((input: Parameters<typeof readFailures>[1]) => readFailures(deps, input)),

    checkDatabase: asActivity((input: Parameters<typeof checkDatabase>[1]) => checkDatabase(deps, input)),

    planPrune: asActivity((input: Parameters<typeof planPrune>[1]) => planPrune(deps, input)),

    findOverdue: asActivity(() => findOverdue(deps)),

    dropCopy: asActivity((input: Parameters<typeof dropCopy>[1]) => dropCopy(deps, input)),

    pruneBatch: asActivity((input: Parameters<typeof pruneBatch>[1]) => pruneBatch(deps, input)),
  };
}
