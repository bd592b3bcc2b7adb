import pg from 'pg';
import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType } from '../domain/failure.js';
import { grainText } from '../domain/grain.js';
import { samePartitioning } from '../domain/keep.js';
import type { Replaced } from '../domain/outcome.js';
import { partitionOf } from '../domain/range.js';
import { quoteTableName } from '../domain/table-name.js';
import { shapeText } from './catalog.js';
import type { Database, Tx } from './database.js';
import { type Keeping, quoteCopy } from './kept/copy.js';
import { demandWhole } from './kept/demand-whole.js';
import { undoDefinition } from './kept/undo-build.js';
import { hideValues } from './hide-values.js';
import { type Admission, type RunIdentity, admissionTexts, readAdmission } from './ledger/admission.js';
import { recordReplacement } from './ledger/replacements.js';
import { rowSourceOf } from './row-sources/row-source.js';
import { notOursToEnd, sessionName } from './sessions.js';
import { StrayRow, countlessStrayRows, describeStrayRows } from './stray-rows.js';
import type { Target } from './target.js';
import { inTransaction } from './transaction.js';
import { createPartition, replaceRows } from './write-partition.js';

export interface Replacement {
  readonly definition: Definition;
  readonly run: RunIdentity;
  readonly key: string;
  readonly attempt: number;
  /** The other databases that definitions name. */
  readonly sources: ReadonlyMap<string, Database>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Replaces the rows of one partition, in one transaction that also holds the record of it. Called again it finds the
 * record and changes nothing.
 * @throws {BackfillError} what is wrong with the partition, or with the run's right to write it
 * @throws what PostgreSQL said; see `toBackfillError`
 */
export async function replacePartition(database: Database, replacement: Replacement): Promise<Replaced> {
  const { definition, run, key, signal } = replacement;
  const { timeouts, searchPath } = definition;
  const applicationName = sessionName(run.planId, key);
  const options = { applicationName, runsUserSql: true, timeouts, searchPath, signal };
  const relation = quoteTableName(definition.table);
  const attempt = { ...run, key, session: applicationName, relation, column: definition.partitioning.column };
  const opening = [
    ...admissionTexts(database.ledger, attempt),
    shapeText(`to_regclass(${pg.escapeLiteral(relation)})`),
  ];
  try {
    return await inTransaction(database, { ...options, opening }, (tx, opened) => {
      const [admitted = [], shape = []] = opened.slice(-2);
      return replaceInTransaction(tx, replacement, {
        admission: readAdmission(admitted, attempt),
        shape: (shape[0] as { readonly shape: string } | undefined)?.shape,
      });
    });
  } catch (error) {
    if (!(error instanceof StrayRow)) throw hideValues(notOursToEnd(error, run.planId, key), definition);
    throw await inTransaction(database, { ...options, readOnly: true }, (tx) => describeStrayRows(tx, error)).catch(
      () => countlessStrayRows(error),
    );
  }
}

async function replaceInTransaction(
  tx: Tx,
  { definition: todays, run: { planId }, key, attempt, sources, signal }: Replacement,
  { admission, shape }: { readonly admission: Admission; readonly shape: string | undefined },
): Promise<Replaced> {
  if (admission.already) return admission.already;
  const { undo, provisional, action, strategy, hasDeferred } = admission;
  const definition = undo ? undoneBy(todays, undo, tx.ledger) : todays;
  demandUnchanged(definition, admission, shape);
  // What another definition built is the work of neither: `outdated` finds it.
  const isChanged = !undo && isOther(definition, admission);
  const buildDigest = isChanged ? `changed ${definition.digest}` : admission.buildDigest;
  if (undo) await demandWhole(tx, undo, key);
  const target = targetOf(definition, admission, key);
  const source = rowSourceOf({ definition, sources, applicationName: sessionName(planId, key), signal });
  const write = action === 'create' ? createPartition : replaceRows;
  const keep = keepingOf(admission, key, tx.ledger);
  const writing = { definition, strategy, source, hasDeferred, keep };
  const { isOurs, kept, strategy: used, ...written } = await write(tx, target, writing);
  const done: Replaced = { key, generation: admission.generation + 1, ...written };
  const table = definition.name;
  await recordReplacement(tx, {
    ...done,
    table,
    planId,
    attempt,
    isOurs,
    kept,
    strategy: used,
    buildDigest,
    provisional,
  });
  return done;
}

/** @throws {BackfillError} PlanDrift: what it held before is not kept any more */
function undoneBy(
  todays: Definition,
  { form, oldRows: _, ...undo }: NonNullable<Admission['undo']>,
  ledger: string,
): Definition {
  if (form !== null) return undoDefinition(todays, undo, { ledger, form });
  throw new BackfillError({
    type: FailureType.PlanDrift,
    message: `What ${undo.workflowId} replaced is not kept any more`,
  });
}

function keepingOf({ kept }: Admission, key: string, ledger: string): Keeping | null {
  return kept && { columns: kept.columns, copy: kept.relation === null ? null : quoteCopy(ledger, kept.relation), key };
}

function isOther({ digest }: Definition, { definitionDigest }: Admission): boolean {
  return digest !== definitionDigest;
}

/** Keys must mean what they meant when the plan was made. */
function mayBeOther({ partitioning }: Definition, { allowsChange, grain, timeZone }: Admission): boolean {
  return allowsChange && grainText(partitioning) === grain && partitioning.timeZone === timeZone;
}

/** What was reviewed is what runs: neither the definition nor the table may have changed since the plan. */
function demandUnchanged(definition: Definition, admission: Admission, shape: string | undefined): void {
  const { undo } = admission;
  if (undo && !samePartitioning(definition.partitioning, undo.partitioning)) {
    throw new BackfillError({
      type: FailureType.DefinitionChanged,
      message: `This worker's definition of ${definition.name} cuts it otherwise than the run that is undone`,
    });
  }
  if (!undo && isOther(definition, admission) && !mayBeOther(definition, admission)) {
    throw new BackfillError({
      type: FailureType.DefinitionChanged,
      message: `This worker's definition of ${definition.name} (${definition.digest.slice(0, 12)}) is not the plan's (${admission.definitionDigest.slice(0, 12)})`,
    });
  }
  // Putting back what was there before the run that is undone would lose what came since.
  if (undo && admission.generation !== admission.generationPlanned) {
    throw new BackfillError({
      type: FailureType.PlanDrift,
      message: `${definition.name} was written since the plan was made (generation ${admission.generationPlanned} → ${admission.generation}); plan the undo again`,
    });
  }
  if (shape !== admission.shape || !admission.hasLeaf) {
    const what = shape === admission.shape ? 'the partition is gone' : 'its columns are not those of the plan';
    throw new BackfillError({
      type: FailureType.ShapeChanged,
      message: `${definition.name} was altered since the plan was made: ${what}`,
    });
  }
}

function targetOf(
  { table, partitioning, origin }: Definition,
  { columnType, precision, columns }: Admission,
  key: string,
): Target {
  return {
    table,
    column: partitioning.column,
    columnType,
    precision,
    columns,
    restores: origin.kind === 'sql' ? origin.restores : null,
    partition: partitionOf(partitioning, key),
  };
}
