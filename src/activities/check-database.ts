import { CancelledFailure } from '@temporalio/activity';
import { checkQuestion } from '../config/read-request.js';
import type { ReadInput } from '../contract.js';
import type { Definition } from '../domain/definition.js';
import { type Finding, problem } from '../domain/finding.js';
import { cutPage } from '../domain/page.js';
import { partitionOf } from '../domain/range.js';
import type { Tx } from '../postgres/database.js';
import { examineLedger } from '../postgres/doctor/ledger.js';
import { examinePooler } from '../postgres/doctor/pooler.js';
import { examineServer } from '../postgres/doctor/server.js';
import { type TableQuestion, examineTable } from '../postgres/doctor/table.js';
import { isTransient, toBackfillError } from '../postgres/sqlstate.js';
import { type Dependencies, demandDefinition, inLedger } from './dependencies.js';
import { inDatabases } from './in-databases.js';

type Question = Extract<ReadInput, { readonly what: 'doctor' }>;

/** Findings that are shown: one a table at least. */
const MOST_FINDINGS = 1_000;

/**
 * What of the database stands in the way of backfills: of one table, or of all that the worker knows. Writes nothing.
 * @throws {BackfillError} UnknownTable, InvalidRequest: the question
 */
export async function checkDatabase(deps: Dependencies, asking: Question): Promise<Finding[]> {
  const question = checkQuestion(asking);
  const { database } = deps;
  const asked = question.table === undefined ? deps.definitions : [demandDefinition(deps.definitions, question.table)];
  const tables = asked.map((definition) => ({ definition, now: deps.now(), range: rangeOf(definition, question) }));
  const timeZones = asked.map(({ partitioning }) => partitioning.timeZone);
  const server = { database, workers: question.workers ?? null, timeZones };
  const reached = await find('PostgreSQL', async () => {
    const about = await inTransaction(deps, (tx) => examineServer(tx, server));
    return [...about, await examinePooler(database)];
  });
  if (reached.isLost) return [...reached.findings];
  const findings = [...reached.findings];
  findings.push(...(await find('ledger', () => inTransaction(deps, examineLedger))).findings);
  for (const table of tables) findings.push(...(await findInTable(deps, table)));
  return [...cutPage(findings, MOST_FINDINGS).items];
}

function rangeOf({ partitioning }: Definition, { from, to }: Question): TableQuestion['range'] {
  if (from === undefined && to === undefined) return null;
  return {
    first: partitionOf(partitioning, from ?? to ?? '', 'request.from'),
    last: partitionOf(partitioning, to ?? from ?? '', 'request.to'),
  };
}

async function findInTable(deps: Dependencies, table: TableQuestion): Promise<readonly Finding[]> {
  const { definition } = table;
  const examine = () => inDatabases(deps, definition, (asked) => examineTable(asked, table));
  return (await find(definition.name, examine)).findings;
}

function inTransaction<T>(deps: Dependencies, work: (tx: Tx) => Promise<T>) {
  return inLedger(deps, work, { readOnly: true });
}

interface Found {
  readonly findings: readonly Finding[];
  /** PostgreSQL could not be reached, or had no connection to give. */
  readonly isLost: boolean;
}

/** An examination that cannot be made is a finding, too. */
async function find(check: string, examine: () => Promise<readonly Finding[]>): Promise<Found> {
  try {
    return { findings: await examine(), isLost: false };
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    const known = toBackfillError(error);
    const isLost = isTransient(known);
    const remedy = isLost
      ? 'Start PostgreSQL, or repair DATABASE_URL, its network or its limits.'
      : 'Repair what it says.';
    return { findings: [problem(check, known.message, remedy)], isLost };
  }
}
