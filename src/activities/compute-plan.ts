import { buildIdentity } from '../config/compile.js';
import { digest } from '../config/digest.js';
import type { NewPlanRequest } from '../config/request.js';
import type { Definition } from '../domain/definition.js';
import type { PlannedState } from '../domain/drift.js';
import { InvalidRequest } from '../domain/failure.js';
import { type Decision, decide } from '../domain/planning.js';
import { type Partition, type Range, completeness, partitionOf, resolveRange } from '../domain/range.js';
import type { UndoFacts } from '../domain/undo.js';
import type { RunOptions } from '../domain/request.js';
import type { NewPlan, StoredPartition } from '../postgres/ledger/plans.js';
import { type Survey, survey } from '../postgres/survey.js';
import { readEarlierWrites } from '../postgres/ledger/durations.js';
import { type Dependencies, inLedger } from './dependencies.js';
import { shownFacts } from './plan-facts.js';
import { findImpact } from './find-impact.js';
import { inDatabases } from './in-databases.js';
import { planKeeping } from './plan-keeping.js';
import { calendarProblems, obstacles, optionProblems } from './plan-problems.js';

/** Beyond this a range is a typing error: 100,000 hours are eleven years. */
const MOST_PARTITIONS = 200_000;

export type ComputedPlan = Omit<NewPlan, 'planId' | 'replaces'>;

/**
 * Decides what a run of this request would do, from the definition, the catalog and the ledger as they are now. Reads only.
 * @param only the keys that may be written; the others are left alone for the reason given
 * @throws {InvalidRequest} the range or the table is not what the request needs
 */
export async function computePlan(
  deps: Dependencies,
  definition: Definition,
  request: NewPlanRequest,
  only?: { readonly keys: ReadonlySet<string>; readonly otherwise: string },
): Promise<ComputedPlan> {
  const range = rangeOf(definition, request);
  const { partitions } = range;
  const options = optionsOf(request);
  const found = await surveyTable(deps, definition, partitions, options.select.startsWith('missing'));
  const buildDigest = buildDigestOf(definition, found);
  const now = deps.now();
  const decisions = partitions.map((partition, i): Decision => {
    const facts = found.partitions[i];
    if (!facts) throw new Error(`The survey lacks ${partition.key}`);
    if (only && !only.keys.has(partition.key)) return { action: 'leave', why: only.otherwise };
    return decide(partition, facts, { options, buildDigest, now });
  });
  const { requestedBy, reason } = request;
  const decided = { definition, definitionDigest: definition.digest, buildDigest, range, options, found, decisions };
  const plan = await assemble(deps, { ...decided, now, undo: null, requestedBy, reason });
  return { ...plan, refusals: [...plan.refusals, ...calendarProblems(plan.partitions)] };
}

/** Everything that a plan is made of. */
export interface Decided extends Pick<
  NewPlan,
  'definitionDigest' | 'buildDigest' | 'options' | 'requestedBy' | 'reason'
> {
  readonly definition: Definition;
  readonly range: Range;
  readonly found: Survey;
  /** One for each partition of the range. */
  readonly decisions: readonly Decision[];
  readonly now: Date;
  readonly undo: UndoFacts | null;
}

export async function assemble(deps: Dependencies, decided: Decided): Promise<ComputedPlan> {
  const { definition, definitionDigest, buildDigest, range, options, found, decisions, now, undo, ...who } = decided;
  const { from, to, partitions, widened } = range;
  const stored = partitions.map((partition, i) => storedPartition(partition, found, decisions[i], i, now));
  const { shape } = found.facts;
  const written = stored.filter(({ action }) => action !== 'leave');
  const leafOids = written.flatMap(({ leafOid }) => leafOid ?? []);
  const impact = await findImpact(deps, definition, leafOids);
  const basis = { definitionDigest, buildDigest, shape, partitions: toStates(stored) };
  const keeping = planKeeping(definition, found, stored);
  const facts = shownFacts(definition, found, stored, widened);
  return {
    table: definition.name,
    from,
    to,
    options,
    digest: digest({ ...basis, options, strategy: found.strategy.strategy }),
    definitionDigest,
    buildDigest,
    shape,
    columnType: found.columnType,
    columns: found.columns,
    facts: {
      ...facts,
      warnings: [...facts.warnings, ...keeping.warnings],
      keep: keeping.keep,
      undo,
      impact: impact.dependents,
      estimates: found.estimates,
      earlier: await inLedger(deps, (tx) => readEarlierWrites(tx, definition.name), { readOnly: true }),
    },
    refusals: [
      ...found.problems,
      ...obstacles(found, decisions),
      ...optionProblems(definition, options),
      ...keeping.refusals,
    ],
    undoes: undo?.planId ?? null,
    ...who,
    partitions: stored,
  };
}

/** The read-only look at the table and its partitions. */
export async function surveyTable(
  deps: Dependencies,
  definition: Definition,
  partitions: readonly Partition[],
  askEmpty: boolean,
): Promise<Survey> {
  const found = await inDatabases(deps, definition, (asked) => survey(asked, definition, partitions, { askEmpty }));
  if (typeof found === 'string') throw new InvalidRequest(`${found} (request.table)`);
  return found;
}

/** What decides whether a partition is outdated: the build's text, partitioning, and the views and functions it uses. */
export function buildDigestOf(definition: Definition, { mentions }: Pick<Survey, 'mentions'>): string {
  return digest({ ...buildIdentity(definition), mentions });
}

/** What is there now of the partitions that a plan writes. */
export function toStates(partitions: readonly StoredPartition[]): PlannedState[] {
  return partitions.flatMap(({ key, action, generation, leafOid, leafFileNode }) =>
    action === 'leave' ? [] : [{ key, action, generation, leafOid, leafFileNode }],
  );
}

export function rangeOf(
  { partitioning }: Definition,
  { from, to, widen, exclude }: Pick<NewPlanRequest, 'from' | 'to' | 'widen' | 'exclude'>,
): Range {
  const range = resolveRange(partitioning, { from, to, widen }, MOST_PARTITIONS);
  if (range.partitions.length === 0) {
    const { timeZone } = partitioning;
    throw new InvalidRequest(
      `The range ${from} to ${to} holds no partition: it never was in ${timeZone} (request.from)`,
    );
  }
  exclude.forEach((key, i) => partitionOf(partitioning, key, `request.exclude[${i}]`));
  return range;
}

function optionsOf(request: NewPlanRequest): RunOptions {
  const { select, exclude, concurrency, publish, onFailure, allowIncomplete, allowDefinitionChange } = request;
  return { select, exclude, concurrency, publish, onFailure, allowIncomplete, allowDefinitionChange };
}

function storedPartition(
  partition: Partition,
  found: Survey,
  decision: Decision | undefined,
  i: number,
  now: Date,
): StoredPartition {
  const facts = found.partitions[i];
  if (!facts || !decision) throw new Error(`The survey lacks ${partition.key}`);
  const common = {
    key: partition.key,
    bytes: facts.leaf?.bytes ?? 0,
    rowsAbout: facts.leaf?.rowsAbout ?? null,
    generation: facts.generation,
    leafOid: facts.leaf?.oid ?? null,
    leafFileNode: facts.leaf?.fileNode ?? null,
    provisional: completeness(partition, now) !== 'complete',
  };
  return decision.action === 'leave' ? { ...common, ...decision } : { ...common, ...decision, why: null };
}
