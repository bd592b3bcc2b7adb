import { quoteTableName } from '../domain/table-name.js';
import { statisticsTexts } from '../postgres/statistics.js';
import { type Dependencies, demandDefinition, inLedger } from './dependencies.js';

export interface RefreshInput {
  readonly planId: string;
  readonly table: string;
}

/** Statements at once: each takes one core, and the last read two. */
const AT_ONCE = 2;

/** Fresh statistics for the planner. Only the owner may: without the right PostgreSQL warns, and so be it. */
export async function refreshStatistics(deps: Dependencies, { planId, table }: RefreshInput): Promise<void> {
  const relation = quoteTableName(demandDefinition(deps.definitions, table).table);
  const texts = await inLedger(deps, (tx) => statisticsTexts(tx, relation, planId), { readOnly: true });
  const left = texts.values();
  const work = async () => {
    for (const text of left) await inLedger(deps, (tx) => tx.query(text));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
