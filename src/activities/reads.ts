import { checkQuestion } from '../config/read-request.js';
import type { ReadInput } from '../contract.js';
import type { Definition } from '../domain/definition.js';
import type { FailuresPage, HistoryPage } from '../domain/history.js';
import { cutPage } from '../domain/page.js';
import { partitionOf } from '../domain/range.js';
import { BackfillError } from '../domain/failure.js';
import { isForeign } from '../domain/origin.js';
import { type PartitionsPage, type TableState, type TablesPage, countStates } from '../domain/table-state.js';
import type { Tx } from '../postgres/database.js';
import { readFailuresPage } from '../postgres/ledger/failures.js';
import { readHistory } from '../postgres/ledger/history.js';
import { readOpenRuns } from '../postgres/ledger/partitions.js';
import { followMentions } from '../postgres/mentions.js';
import { readRecords } from '../postgres/partition-records.js';
import { type Asked, attempt, textOf } from '../postgres/try-build.js';
import { buildDigestOf } from './compute-plan.js';
import { type Dependencies, demandDefinition, demandPlanId, inLedger } from './dependencies.js';
import { inDatabases } from './in-databases.js';

type Question<W extends ReadInput['what']> = Extract<ReadInput, { readonly what: W }>;

const MOST_TABLES = 100;
const MOST_PARTITIONS = 2_000;

/** Every definition of the worker, in its order, with what the database has of its table. */
export async function readTables(deps: Dependencies, question: Question<'tables'>): Promise<TablesPage> {
  const { after = 0 } = checkQuestion(question);
  const definitions = deps.definitions.slice(after, after + MOST_TABLES + 1);
  const states: TableState[] = [];
  // One after another: somebody asks for all tables, and backfills need the connections.
  for (const definition of definitions) states.push(await readTable(deps, definition));
  const { items, hasMore } = cutPage(states, MOST_TABLES);
  return { tables: items, next: hasMore ? after + items.length : null };
}

async function readTable(deps: Dependencies, definition: Definition): Promise<TableState> {
  const { name, description, owner, partitioning, digest } = definition;
  const build = await digestOrProblem(deps, definition);
  const read = async (tx: Tx): Promise<TableState> => {
    const table = await readRecords(tx, definition, typeof build === 'string' ? '' : build.digest);
    const { exists, keys } = table;
    return {
      name,
      description,
      owner,
      partitioning,
      digest,
      exists,
      problem: table.problem ?? (typeof build === 'string' ? `The build cannot be read: ${build}` : null),
      partitions: keys.length,
      firstKey: keys[0] ?? null,
      lastKey: keys.at(-1) ?? null,
      counts: countStates(table.records),
      openRuns: await readOpenRuns(tx, name),
    };
  };
  return inLedger(deps, read, { readOnly: true });
}

/** Every partition of a table that catalog or ledger know, oldest first, a page at a time. */
export async function readPartitions(deps: Dependencies, question: Question<'partitions'>): Promise<PartitionsPage> {
  const { table, after } = checkQuestion(question);
  const definition = demandDefinition(deps.definitions, table);
  const { records } = await inDatabases(deps, definition, async (asked) =>
    readRecords(asked.tx, definition, await buildDigest(asked, definition)),
  );
  const start = after === undefined ? 0 : records.findIndex(({ key }) => key === after) + 1;
  const { items, hasMore } = cutPage(records.slice(start, start + MOST_PARTITIONS + 1), MOST_PARTITIONS);
  return { table: definition.name, partitions: items, next: hasMore ? (items.at(-1)?.key ?? null) : null };
}

/** Who wrote what when, newest first, a page at a time. */
export async function readTableHistory(deps: Dependencies, question: Question<'history'>): Promise<HistoryPage> {
  const { table, key, before } = checkQuestion(question);
  const definition = demandDefinition(deps.definitions, table);
  const wanted = key === undefined ? null : partitionOf(definition.partitioning, key).key;
  return inDatabases(deps, definition, async (asked) =>
    readHistory(asked.tx, {
      table: definition.name,
      buildDigest: await buildDigest(asked, definition),
      key: wanted,
      before: before ?? null,
    }),
  );
}

/** The failed partitions of a run, in the order of its plan, a page at a time. */
export async function readFailures(deps: Dependencies, question: Question<'failed'>): Promise<FailuresPage> {
  const { planId, after } = checkQuestion(question);
  return inLedger(deps, (tx) => readFailuresPage(tx, demandPlanId(planId), after), { readOnly: true });
}

/** A source that cannot be reached, or whose views cannot be read, is no reason to say nothing of the table. */
async function digestOrProblem(deps: Dependencies, definition: Definition): Promise<{ digest: string } | string> {
  try {
    return await inDatabases(deps, definition, (asked) =>
      attempt(asked.source, async () => ({ digest: await buildDigest(asked, definition) })),
    );
  } catch (error) {
    if (isForeign(definition.origin) && error instanceof BackfillError) return error.message;
    throw error;
  }
}

async function buildDigest({ source }: Asked, definition: Definition): Promise<string> {
  const { definitions: mentions } = await followMentions(source, textOf(definition.origin));
  return buildDigestOf(definition, { mentions });
}
