import type { Definition } from '../domain/definition.js';
import { BackfillError, FailureType } from '../domain/failure.js';
import type { KeptForm } from '../domain/keep.js';
import { isForeign } from '../domain/origin.js';
import type { Replaced } from '../domain/outcome.js';
import type { Strategy } from '../domain/strategy.js';
import type { Tx } from './database.js';
import { type Keeping, keeping } from './kept/copy.js';
import { analyzeText, attachText, createDetached, findSite } from './new-partition.js';
import type { RowSource } from './row-sources/bringing.js';
import { countRows } from './row-writers.js';
import { type Settling, settle } from './settle.js';
import { stageRows } from './stage-rows.js';
import { deleteText, insertBuild, insertStaged } from './strategies/delete-insert.js';
import { correctRows, isBuilt, notAsBuilt, writeDifferences } from './strategies/diff.js';
import { type Target, quoteTarget } from './target.js';
import { findUniqueKey } from './unique-key.js';

/** What is written, and in which way. */
export interface Writing {
  readonly definition: Definition;
  readonly strategy: Strategy;
  readonly source: RowSource;
  /** Triggers may wait for the commit. */
  readonly hasDeferred: boolean;
  /** Where the old rows are kept; null for nowhere. */
  readonly keep: Keeping | null;
}

export interface Written extends Pick<Replaced, 'status' | 'rowsBefore' | 'rowsAfter' | 'changes'> {
  readonly strategy: Strategy;
  /** All rows that were written carry the number of this transaction. */
  readonly isOurs: boolean;
  /** How the old rows are kept; null where they are not. */
  readonly kept: KeptForm | null;
}

/**
 * Makes a partition that is there hold what the build gives.
 * @throws {BackfillError} EmptyBuild, ShapeChanged, and what `settle` and `stageRows` throw
 * @throws {StrayRow}
 */
export function replaceRows(tx: Tx, target: Target, writing: Writing): Promise<Written> {
  return writing.strategy === 'diff' ? replaceByDiff(tx, target, writing) : replaceAll(tx, target, writing);
}

async function replaceAll(tx: Tx, target: Target, writing: Writing): Promise<Written> {
  const staged = await stageForeign(tx, target, writing);
  const [rowsBefore = 0] = await tx.goOnAsUser(keeping(deleteText(target), writing.keep));
  const settled = await fill(tx, target, { ...writing, staged, rowsBefore, into: quoteTarget(target) });
  return {
    status: 'replaced',
    strategy: 'delete-insert',
    rowsBefore,
    changes: null,
    kept: keptRows(writing, rowsBefore),
    ...settled,
  };
}

async function replaceByDiff(tx: Tx, target: Target, writing: Writing): Promise<Written> {
  const key = await findUniqueKey(tx, target.table, target.columns);
  if (!key) {
    const message = `${writing.definition.name} has lost the key by which its rows were to be compared`;
    throw new BackfillError({ type: FailureType.ShapeChanged, message });
  }
  const built = await stageRows(tx, target, writing.source, key);
  if (built === 0) demandRows(target, writing.definition, await countRows(tx, target, 'true'));
  // A trigger may keep some from being inserted, so that the others cannot be told from what was.
  const known = key.hasTriggers ? await countRows(tx, target, isBuilt(key)) : null;
  const { added, changed, removed, isKept } = await writeDifferences(tx, target, { key, keep: writing.keep });
  if (!isKept) {
    const message = `${target.partition.key}: something else writes this partition; a row changed before it was kept`;
    throw new BackfillError({ type: FailureType.Transient, message });
  }
  const { hasTriggers } = key;
  const surplus = { rows: notAsBuilt(target, key), remove: correctRows(target, key).join('; '), hasTriggers };
  const stayed = known ?? built - added;
  const kept = stayed - changed;
  const settled = await settle(tx, target, { ...writing, into: quoteTarget(target), built, kept, surplus });
  const changes = { added, removed, changed, unchanged: kept };
  const rowsBefore = stayed + removed;
  const keptAs = writing.keep ? ('differences' as const) : null;
  return { status: 'replaced', strategy: 'diff', rowsBefore, changes, kept: keptAs, ...settled };
}

/** The new partition is attached last where it can be, so that writers of the table wait for the commit only. */
export async function createPartition(tx: Tx, target: Target, writing: Writing): Promise<Written> {
  const staged = await stageForeign(tx, target, writing);
  if (staged !== null) await tx.goOnAsSelf();
  const site = await findSite(tx, target);
  await createDetached(tx, target, site, writing.definition.timeouts.lockMs);
  const [now, later] = site.needsParent ? [[attachText(target, site)], []] : [[], [attachText(target, site)]];
  // Rows of the missing partition may sit in a default partition; with them there, attaching would be refused.
  const [rowsBefore = 0] = await tx.goOnAsUser(keeping(deleteText(target), writing.keep), ...now);
  const into = site.needsParent ? quoteTarget(target) : site.leaf;
  const settled = await fill(tx, target, { ...writing, staged, rowsBefore, into });
  await tx.query([analyzeText(site), ...later].join('; '));
  const changes = { added: settled.rowsAfter, removed: rowsBefore, changed: 0, unchanged: 0 };
  return {
    status: 'created',
    strategy: 'delete-insert',
    rowsBefore,
    changes,
    kept: keptRows(writing, rowsBefore),
    ...settled,
  };
}

/** A run that finds no row to keep needs no copy; that one came since is told as what it is: not kept. */
function keptRows({ keep }: Writing, rowsBefore: number): KeptForm | null {
  return keep && (keep.copy !== null || rowsBefore === 0) ? 'rows' : null;
}

/** Rows from elsewhere are brought here before anything is deleted. Null where they are inserted as they are built. */
async function stageForeign(tx: Tx, target: Target, { definition, source }: Writing): Promise<number | null> {
  return isForeign(definition.origin) ? stageRows(tx, target, source) : null;
}

interface Filling extends Pick<Settling, 'definition' | 'into' | 'hasDeferred'> {
  readonly rowsBefore: number;
  /** The number of rows that are staged; null for none. */
  readonly staged: number | null;
}

/** Fills a partition whose rows were deleted. It runs where SQL of the definition finds its names. */
async function fill(tx: Tx, target: Target, { rowsBefore, staged, ...filling }: Filling) {
  const { definition, into } = filling;
  const { origin } = definition;
  if (staged !== null) await insertStaged(tx, target, into);
  const built =
    origin.kind === 'sql' && staged === null ? await insertBuild(tx, target, origin.build, into) : (staged ?? 0);
  if (built === 0) demandRows(target, definition, rowsBefore);
  return settle(tx, target, {
    ...filling,
    built,
    kept: 0,
    surplus: { rows: 'true', remove: deleteText(target), hasTriggers: false },
  });
}

function demandRows({ partition }: Target, { whenEmpty }: Definition, rowsBefore: number): void {
  if (whenEmpty !== 'fail') return;
  throw new BackfillError({
    type: FailureType.EmptyBuild,
    message: `${partition.key}: the build gives no row, and whenEmpty is "fail"; the ${rowsBefore} old rows stay`,
  });
}
