import { Context } from '@temporalio/activity';
import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType, InvalidRequest } from '../domain/failure.js';
import { closest } from '../domain/suggest.js';
import { parseTableName, printTableName } from '../domain/table-name.js';
import type { Database, Tx } from '../postgres/database.js';
import type { TransactionOptions } from '../postgres/begin.js';
import { type StoredPlan, readPlan } from '../postgres/ledger/plans.js';
import { inTransaction } from '../postgres/transaction.js';
import type { OwnNamespace } from './own-namespace.js';

/** What the activities are built from. Tests put their own in. */
export interface Dependencies {
  readonly database: Database;
  /** Other databases, by the names that definitions give them. */
  readonly sources: ReadonlyMap<string, Database>;
  readonly definitions: readonly Definition[];
  readonly now: () => Date;
  /** Whether the namespace has our search attributes: an upsert of an unknown one blocks a workflow for ever. */
  readonly hasSearchAttributes: boolean;
  readonly namespace: OwnNamespace;
  /** Whether a Temporal execution is still running: a run that it left open is taken over only if it is not. */
  readonly isRunning: (workflowId: string, executionId: string) => Promise<boolean>;
  /** Partitions a page of work; a run continues as new after each. */
  readonly pageSize: number;
}

/** A short transaction that reads or writes the ledger. A cancel of the activity stops it. */
export function inLedger<T>(
  { database }: Dependencies,
  work: (tx: Tx) => Promise<T>,
  options: Pick<TransactionOptions, 'readOnly' | 'runsUserSql' | 'searchPath'> &
    Partial<Pick<TransactionOptions, 'timeouts'>> = {},
): Promise<T> {
  const { cancellationSignal: signal } = Context.current();
  const timeouts = { attemptMs: 5 * 60_000, lockMs: 5_000 };
  return inTransaction(database, { applicationName: 'backfill ledger', timeouts, signal, ...options }, work);
}

/** @throws {InvalidRequest} the text is no plan's id, as somebody may write it who starts `read` by hand */
export function demandPlanId(planId: unknown): string {
  if (typeof planId === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(planId)) return planId;
  throw new InvalidRequest(`${JSON.stringify(planId) ?? 'Nothing'} is no id of a plan (planId)`);
}

/** @throws {InvalidRequest} no plan has this id */
export async function demandPlan(tx: Tx, planId: string): Promise<StoredPlan> {
  const plan = await readPlan(tx, planId);
  if (plan) return plan;
  throw new InvalidRequest(`There is no plan ${planId} in the ledger (request.plan)`);
}

/** @throws {BackfillError} UnknownTable */
export function demandDefinition(definitions: readonly Definition[], table: string): Definition {
  const name = parseTableName(table);
  const found = name && definitions.find((definition) => definition.name === printTableName(name));
  if (found) return found;
  throw unknownTable(
    table,
    definitions.map((definition) => definition.name),
  );
}

/** Names that fit a message; the failure's sample has no more either. */
const MOST_NAMED = 10;

function unknownTable(table: string, known: readonly string[]): BackfillError {
  const meant = closest(table, known);
  const shown = known.slice(0, MOST_NAMED).join(', ') || 'none';
  const knows = `it knows: ${shown}${known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : ''}`;
  return new BackfillError({
    type: FailureType.UnknownTable,
    message: `${JSON.stringify(table)} is no table that this worker has a definition of (request.table); ${meant === undefined ? knows : `did you mean ${meant}?`}`,
    sample: meant === undefined ? known.slice(0, MOST_NAMED) : [meant],
  });
}
