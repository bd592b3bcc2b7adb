import type { BackfillClient } from '../client/backfill-client.js';
import { RunNotFound } from '../client/errors.js';
import type { RunSummary } from '../client/run-summary.js';
import { canonicalTable } from '../domain/canonical-request.js';
import { closest } from '../domain/suggest.js';

type Lister = Pick<BackfillClient, 'list'>;

/** Runs among which the one that was meant is looked for. */
const MOST_RUNS = 200;

/** The same error, with the name of the run that was most likely meant. */
export async function suggestRun(client: Lister, error: RunNotFound): Promise<RunNotFound> {
  const ids = (await latestRuns(client)).map(({ workflowId }) => workflowId);
  return new RunNotFound(error.workflowId, { cause: error.cause, meant: closest(error.workflowId, ids) });
}

/** The table that was most likely meant by one of which there is no run. */
export async function suggestTable(client: Lister, table: string): Promise<string | undefined> {
  const known = new Set((await latestRuns(client)).flatMap((run) => run.table ?? []));
  return known.has(canonicalTable(table)) ? undefined : closest(table, [...known]);
}

/** As many as the server gives: a suggestion is worth no second error. */
async function latestRuns(client: Lister): Promise<RunSummary[]> {
  const runs: RunSummary[] = [];
  try {
    for await (const run of client.list()) if (runs.push(run) >= MOST_RUNS) break;
  } catch {
    return runs;
  }
  return runs;
}
