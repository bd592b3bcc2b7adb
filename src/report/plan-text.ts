import type { Plan, PlannedPartition } from '../domain/plan.js';
import { printBytes } from '../domain/size.js';
import { countOf, printCount, printSpan } from './figures.js';
import { leftAloneByReason } from './key-ranges.js';
import { estimates, impact, lastWritten, timeNeeded } from './plan-context-text.js';
import { type Column, facts, items, listUnder, table, wrap } from './text.js';

const HEAD = 20;
const TAIL = 5;

/**
 * A plan for people, before anything is written. `tail` holds the last partitions of a plan that is longer than its
 * first page.
 */
export function planLines(plan: Plan, tail: readonly PlannedPartition[] = []): string[] {
  const sections = [
    wrap(headline(plan)),
    partitionTable(plan, tail),
    leftAlone(plan),
    takenOver(plan),
    lastWritten(plan),
    aboutPlan(plan),
    impact(plan),
    listUnder('Warnings:', plan.warnings),
    buildSql(plan),
    listUnder('It would be refused:', plan.refusals),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
}

/** `replaces 14 partitions of mart.daily_revenue, 2026-03-01 to 2026-03-14, both included` */
export function planSentence({ table: name, from, to, counts }: Plan): string {
  const verbs = [
    ...(counts.create > 0 ? [`creates ${printCount(counts.create)}`] : []),
    ...(counts.replace > 0 ? [`replaces ${printCount(counts.replace)}`] : []),
  ];
  const place = `${name}, ${from} to ${to}, both included`;
  if (verbs.length === 0) return `writes no partition of ${place}`;
  const noun = counts.create + counts.replace === 1 ? 'partition' : 'partitions';
  return `${verbs.join(' and ')} ${noun} of ${place}`;
}

function headline(plan: Plan): string {
  return `This plan ${planSentence(plan)}.`;
}

const columns: readonly Column[] = [
  { title: 'partition', align: 'left' },
  { title: 'action', align: 'left' },
  { title: 'rows now', align: 'right' },
  { title: 'size', align: 'right' },
  { title: 'generation', align: 'right' },
];

function partitionTable({ partitions, counts }: Plan, tail: readonly PlannedPartition[]): string[] {
  const total = counts.create + counts.replace;
  if (total === 0) return [];
  const isWhole = total <= HEAD + TAIL && partitions.length === total;
  const head = isWhole ? partitions : partitions.slice(0, HEAD);
  const end = isWhole ? [] : lastOf(partitions, tail, total);
  const lines = table(columns, [...head, ...end].map(row));
  const rest = total - head.length - end.length;
  if (rest > 0) lines.splice(1 + head.length, 0, `  … and ${countOf(rest, 'partition')} more …`);
  return lines;
}

function lastOf(partitions: readonly PlannedPartition[], tail: readonly PlannedPartition[], total: number) {
  const known = partitions.length === total ? partitions : tail;
  return known.slice(-TAIL).filter(({ seq }) => seq > HEAD);
}

function row({ key, action, rowsAbout, bytes, generation }: PlannedPartition): string[] {
  const rows = rowsAbout === null ? 'unknown' : `about ${printCount(rowsAbout)}`;
  return [
    key,
    action,
    action === 'create' ? '–' : rows,
    action === 'create' ? '–' : printBytes(bytes),
    `${generation}`,
  ];
}

function leftAlone(plan: Plan): string[] {
  if (plan.counts.leave === 0) return [];
  const rest = plan.counts.leave - plan.leftAlone.length;
  const reasons = [...leftAloneByReason(plan)].map(([why, ranges]) => `${why}: ${ranges.join(', ')}`);
  const more = rest > 0 ? [`${countOf(rest, 'partition')} more`] : [];
  return [`Left alone, ${countOf(plan.counts.leave, 'partition')} of the range:`, ...items([...reasons, ...more])];
}

function takenOver({ replaces }: Plan): string[] {
  if (!replaces) return [];
  const { planId, keysKept } = replaces;
  const kept =
    keysKept.length === 0
      ? 'Of that plan nothing was built.'
      : `Built by that plan, with its definition, and kept: ${listKeys(keysKept)}.`;
  return wrap(`Takes over what plan ${planId} left unfinished. ${kept}`);
}

function kept({ keep, strategy: chosen }: Plan): string {
  if (!keep) return 'nothing of what is replaced (keepReplaced is "0"): it cannot be undone';
  const about = chosen === 'diff' ? 'at most about' : 'about';
  const size = keep.hasCopy ? `, ${about} ${printBytes(keep.bytes)}` : '';
  return `what is replaced${size}, until ${printSpan(keep.forMs)} after the run, for "backfill undo"`;
}

function listKeys(keys: readonly string[]): string {
  if (keys.length <= HEAD + TAIL) return keys.join(', ');
  return `${keys.slice(0, HEAD).join(', ')} … ${keys.at(-1)} (${printCount(keys.length)} in all)`;
}

function aboutPlan(plan: Plan): string[] {
  const { options, undoes } = plan;
  return facts([
    ...(undoes
      ? ([
          ['undoes', undoes.workflowId],
          ['', `plan ${undoes.planId}`],
        ] as const)
      : []),
    ['how', 'each partition in one transaction; no reader waits, and none sees half of one'],
    ['strategy', strategy(plan)],
    ...(plan.source === null ? [] : [['source', plan.source] as const]),
    ['order', order(plan)],
    ...checks(plan),
    ['empty build', plan.whenEmpty === 'fail' ? 'fails, and the old rows stay' : 'empties the partition'],
    ['kept', kept(plan)],
    ['after a failure', options.onFailure === 'stop' ? 'no other partition starts' : 'the others go on'],
    ...(options.allowDefinitionChange ? [['definition', 'may be another one when a worker takes over'] as const] : []),
    ['time', timeNeeded(plan)],
    ['time zone', `${plan.timeZone}, a partition every ${plan.grain}`],
    ...why(plan),
    ['digest', plan.digest.slice(0, 12)],
    ['plan id', plan.planId],
  ]);
}

function strategy({ strategy: chosen, strategyWhy }: Plan): string {
  const does = {
    'delete-insert': 'every row is written anew',
    diff: 'rows are compared by the key of the table, and only those that differ are written',
  };
  return `${chosen}: ${does[chosen]}${strategyWhy === null ? '' : ` (auto: ${strategyWhy})`}`;
}

function checks({ checks: names }: Plan): (readonly [string, string])[] {
  return names.length === 0 ? [['checks', 'none']] : names.map((name, i) => [i === 0 ? 'checks' : '', name]);
}

function order({ options: { concurrency, publish } }: Plan): string {
  const flight = concurrency === 1 ? 'one at a time' : `${concurrency} at a time`;
  return publish === 'in-order' ? `oldest first, ${flight}` : `any order, ${flight}`;
}

function why({ reason, requestedBy }: Plan): (readonly [string, string])[] {
  return [...(reason ? [['reason', reason] as const] : []), ...(requestedBy ? [['by', requestedBy] as const] : [])];
}

/** As it is: SQL is copied, and a break inside a literal would change it. */
function buildSql(plan: Plan): string[] {
  const { buildSql: sql } = plan;
  return [
    'Build query:',
    ...sql
      .trim()
      .split('\n')
      .map((line) => `  ${line}`.trimEnd()),
    ...estimates(plan),
  ];
}
