import { Context } from '@temporalio/activity';
import type { FailureInfo } from '../domain/failure.js';
import type { Difference, Replaced, RunRecord } from '../domain/outcome.js';
import type { Plan, WorkPage } from '../domain/plan.js';
import { partitionOf } from '../domain/range.js';
import { quoteTableName } from '../domain/table-name.js';
import type { Tx } from '../postgres/database.js';
import { readPlan, readWorkPage } from '../postgres/ledger/plans.js';
import { recordFailure as recordInLedger } from '../postgres/ledger/replacements.js';
import { type RunTotals, closeRun as closeInLedger, readRun, readTotals } from '../postgres/ledger/runs.js';
import { replacePartition as replaceInDatabase } from '../postgres/replace.js';
import { findDifferences } from '../postgres/verify.js';
import { type Dependencies, demandDefinition, inLedger } from './dependencies.js';
import { asActivity } from './failures.js';
import { makePlan, type MakePlanInput } from './make-plan.js';
import { openRun, type OpenRunInput } from './open-run.js';

/** One partition of a run, as the workflow names it. */
export interface PartitionInput {
  readonly planId: string;
  readonly executionId: string;
  readonly table: string;
  readonly key: string;
}

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
  return {
    makePlan: asActivity((input: MakePlanInput) => makePlan(deps, input)),

    openRun: asActivity((input: OpenRunInput) => openRun(deps, input)),

    readWorkPage: asActivity(({ planId, after }: PageInput): Promise<WorkPage> =>
      ledger((tx) => readWorkPage(tx, planId, after, deps.pageSize)),
    ),

    replacePartition: asActivity(({ table, key, ...run }: PartitionInput): Promise<Replaced> => {
      const { info, cancellationSignal: signal } = Context.current();
      const definition = demandDefinition(deps.definitions, table);
      return replaceInDatabase(deps.database, { definition, run, key, attempt: info.attempt, signal });
    }),

    recordFailure: asActivity((failure: FailedPartition) => ledger((tx) => recordInLedger(tx, failure))),

    /** Differences between the table and the ledger, in the page after a position. */
    verifyPage: asActivity(
      async ({ planId, after }: PageInput): Promise<{ differences: Difference[]; next: number | null }> =>
        ledger(async (tx) => {
          const plan = await readPlan(tx, planId);
          const { partitions, hasMore } = await readWorkPage(tx, planId, after);
          if (!plan) throw new Error(`There is no plan ${planId} in the ledger`);
          const definition = demandDefinition(deps.definitions, plan.table);
          const wanted = partitions.map(({ key }) => partitionOf(definition.partitioning, key));
          const differences = await findDifferences(tx, { definition, planId }, plan.columnType, wanted);
          return { differences, next: hasMore ? (partitions.at(-1)?.seq ?? null) : null };
        }),
    ),

    /** Fresh statistics for the planner. Only the owner may: without the right PostgreSQL warns, and so be it. */
    refreshStatistics: asActivity(async ({ table }: { readonly table: string }) => {
      const { table: name } = demandDefinition(deps.definitions, table);
      await ledger((tx) => tx.query(`analyze ${quoteTableName(name)}`));
    }),

    closeRun: asActivity((run: Parameters<typeof closeInLedger>[1]): Promise<RunTotals> =>
      ledger(async (tx) => {
        await closeInLedger(tx, run);
        return readTotals(tx, run.planId);
      }),
    ),

    readPlan: asActivity(({ planId, after }: PageInput): Promise<Plan | null> =>
      ledger((tx) => readPlan(tx, planId, after)),
    ),

    readRun: asActivity(({ planId }: { readonly planId: string }): Promise<RunRecord | null> =>
      ledger((tx) => readRun(tx, planId)),
    ),
  };
}
