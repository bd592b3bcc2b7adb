import type { Difference } from '../domain/outcome.js';
import { partitionOf } from '../domain/range.js';
import type { Tx } from '../postgres/database.js';
import { readPlan, readWorkPage } from '../postgres/ledger/plans.js';
import { findDifferences } from '../postgres/verify.js';
import { type Dependencies, demandDefinition, inLedger } from './dependencies.js';

/** Partitions that one statement reads. It has the time of one attempt at writing one of them. */
const SLICE = 25;

/** Statements at once: reading counts, and is bound by one core each. */
const AT_ONCE = 2;

/** After which the workflow hears how far it came, so that a lost attempt repeats no more than that. */
const LONG_ENOUGH_MS = 60_000;

export interface VerifiedPage {
  readonly differences: Difference[];
  /** The position in the plan after which to go on; null at its end. */
  readonly next: number | null;
}

/** Differences between the table and the ledger, after a position: of a page, or of as many as a minute was enough for. */
export async function verifyPage(
  deps: Dependencies,
  { planId, after }: { readonly planId: string; readonly after: number },
): Promise<VerifiedPage> {
  const { plan, page } = await inLedger(deps, async (tx) => ({
    plan: await readPlan(tx, planId),
    page: await readWorkPage(tx, planId, after),
  }));
  if (!plan) throw new Error(`There is no plan ${planId} in the ledger`);
  const definition = demandDefinition(deps.definitions, plan.table);
  const { timeouts, partitioning } = definition;
  const begun = deps.now().getTime();
  const slice = Math.min(SLICE, deps.pageSize);
  const find = (keys: readonly string[]) => {
    const wanted = keys.map((key) => partitionOf(partitioning, key));
    const read = (tx: Tx) => findDifferences(tx, { definition, planId }, plan.columnType, wanted);
    return inLedger(deps, read, { readOnly: true, timeouts });
  };
  const differences: Difference[] = [];
  for (let i = 0; i < page.partitions.length; i += slice * AT_ONCE) {
    const read = page.partitions.slice(i, i + slice * AT_ONCE);
    const keys = read.map(({ key }) => key);
    const slices = Array.from({ length: AT_ONCE }, (_, n) => keys.slice(n * slice, (n + 1) * slice));
    differences.push(...(await Promise.all(slices.filter((one) => one.length > 0).map(find))).flat());
    const isLast = i + slice * AT_ONCE >= page.partitions.length;
    const isEnough = deps.now().getTime() - begun >= LONG_ENOUGH_MS;
    if (isEnough && !isLast) return { differences, next: read.at(-1)?.seq ?? null };
  }
  return { differences, next: page.hasMore ? (page.partitions.at(-1)?.seq ?? null) : null };
}
