import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType } from '../domain/failure.js';
import type { Replaced } from '../domain/outcome.js';
import { quoteTableName } from '../domain/table-name.js';
import { readShape } from './catalog.js';
import type { Database, Tx } from './database.js';
import {
  type Admission,
  type RunIdentity,
  admit,
  findReplacement,
  lockPartition,
  recordReplacement,
} from './ledger/replacements.js';
import { hideValues } from './hide-values.js';
import { type Filled, fill } from './fill.js';
import { analyze, attach, createDetached, takeTurn, whatCreatingNeeds } from './new-partition.js';
import { partitionOf } from '../domain/range.js';
import { endSessions, sessionName } from './sessions.js';
import { StrayRow, countlessStrayRows, describeStrayRows } from './stray-rows.js';
import { deleteInsert } from './strategies/delete-insert.js';
import { type Target, quoteTarget } from './target.js';
import { inTransaction } from './transaction.js';

export interface Replacement {
  readonly definition: Definition;
  readonly run: RunIdentity;
  readonly key: string;
  readonly attempt: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Replaces the rows of one partition, in one transaction that also holds the record of it. Called again it finds the
 * record and changes nothing.
 * @throws {BackfillError} what is wrong with the partition, or with the run's right to write it
 * @throws what PostgreSQL said; see `toBackfillError`
 */
export async function replacePartition(database: Database, replacement: Replacement): Promise<Replaced> {
  const { definition } = replacement;
  const options = transactionOptions(replacement);
  try {
    return await inTransaction(database, options, (tx) => replaceInTransaction(tx, replacement));
  } catch (error) {
    if (!(error instanceof StrayRow)) throw hideValues(error, definition);
    throw await inTransaction(database, { ...options, readOnly: true }, (tx) => describeStrayRows(tx, error)).catch(
      () => countlessStrayRows(error),
    );
  }
}

async function replaceInTransaction(tx: Tx, { definition, run, key, attempt }: Replacement): Promise<Replaced> {
  const startedAt = new Date();
  const admission = await admit(tx, run, key);
  await endSessions(tx, run.planId, key);
  const generation = (await lockPartition(tx, definition.name, key)) + 1;
  const already = await findReplacement(tx, run.planId, key);
  if (already) return already;
  const target = targetOf(definition, admission, key);
  await demandUnchanged(tx, definition, admission);
  const written =
    admission.action === 'create' ? await create(tx, target, definition) : await replace(tx, target, definition);
  const { isOurs, ...figures } = written;
  const done: Replaced = { key, generation, ...figures };
  await recordReplacement(tx, {
    ...done,
    isOurs,
    ...admission,
    table: definition.name,
    planId: run.planId,
    attempt,
    startedAt,
  });
  return done;
}

type Written = Pick<Replaced, 'status' | 'rowsBefore' | 'rowsAfter'> & Pick<Filled, 'isOurs'>;

/** Triggers of the table fire, and find their names as the role does. */
function removeRows(tx: Tx, target: Target): Promise<number> {
  return tx.asUser(() => deleteInsert.removeRows(tx, target));
}

async function replace(tx: Tx, target: Target, definition: Definition): Promise<Written> {
  const rowsBefore = await removeRows(tx, target);
  const filled = await fill(tx, target, { definition, rowsBefore, into: quoteTarget(target) });
  return { status: 'replaced', rowsBefore, ...filled };
}

/** The new partition is attached last where it can be, so that writers of the table wait for the commit only. */
async function create(tx: Tx, target: Target, definition: Definition): Promise<Written> {
  const needs = await whatCreatingNeeds(tx, target);
  if (needs.turn) await takeTurn(tx, target);
  // Rows of the missing partition may sit in a default partition; with them there, attaching would be refused.
  const rowsBefore = await removeRows(tx, target);
  const leaf = await createDetached(tx, target);
  if (needs.parent) await attach(tx, target, leaf);
  const into = needs.parent ? quoteTarget(target) : quoteTableName(leaf);
  const filled = await fill(tx, target, { definition, rowsBefore, into });
  await analyze(tx, leaf);
  if (!needs.parent) await attach(tx, target, leaf);
  return { status: 'created', rowsBefore, ...filled };
}

/** What was reviewed is what runs: neither the definition nor the table may have changed since the plan. */
async function demandUnchanged(tx: Tx, definition: Definition, admission: Admission): Promise<void> {
  if (definition.digest !== admission.definitionDigest) {
    throw new BackfillError({
      type: FailureType.DefinitionChanged,
      message: `This worker's definition of ${definition.name} (${definition.digest.slice(0, 12)}) is not the plan's (${admission.definitionDigest.slice(0, 12)})`,
    });
  }
  const { rows } = await tx.query<{ oid: number; hasLeaf: boolean }>(
    `select pg_catalog.to_regclass($1)::pg_catalog.oid as oid,
            $2::pg_catalog.oid is null or exists (select from pg_catalog.pg_inherits
              where inhparent = pg_catalog.to_regclass($1) and inhrelid = $2 and not inhdetachpending) as "hasLeaf"`,
    [quoteTableName(definition.table), admission.leafOid],
  );
  const shape = rows[0] ? await readShape(tx, rows[0].oid) : '';
  if (shape !== admission.shape || !rows[0]?.hasLeaf) {
    const what = shape === admission.shape ? 'the partition is gone' : 'its columns are not those of the plan';
    throw new BackfillError({
      type: FailureType.ShapeChanged,
      message: `${definition.name} was altered since the plan was made: ${what}`,
    });
  }
}

function targetOf({ table, partitioning }: Definition, { columnType, columns }: Admission, key: string): Target {
  return { table, column: partitioning.column, columnType, columns, partition: partitionOf(partitioning, key) };
}

function transactionOptions({ definition, run, key, signal }: Replacement) {
  const { timeouts, searchPath } = definition;
  return { applicationName: sessionName(run.planId, key), runsUserSql: true, timeouts, searchPath, signal };
}
