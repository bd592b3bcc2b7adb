import type { HistoryEntry, RunName } from '../domain/history.js';
import type { PartitionRecord, RecordState } from '../domain/table-state.js';
import { countOf, printCount, printTime } from './figures.js';
import { rangesOf } from '../domain/key-ranges.js';
import { type Column, facts, items, table, wrap } from './text.js';

const columns: readonly Column[] = [
  { title: 'partition', align: 'left' },
  { title: 'written', align: 'left' },
  { title: 'action', align: 'left' },
  { title: 'before', align: 'right' },
  { title: 'after', align: 'right' },
  { title: 'gen.', align: 'right' },
  { title: '', align: 'left' },
];

/** Who wrote what when, newest first: the partitions of one run under its name. */
export function historyLines(entries: readonly HistoryEntry[]): string[] {
  if (entries.length === 0) return ['This software has written nothing here yet.'];
  return runsOf(entries).flatMap((run, i) => [...(i === 0 ? [] : ['']), ...runLines(run)]);
}

/** Entries that follow each other and are of one run. */
function runsOf(entries: readonly HistoryEntry[]): (readonly HistoryEntry[])[] {
  const runs: HistoryEntry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (last?.[0]?.planId === entry.planId) last.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

function runLines(run: readonly HistoryEntry[]): string[] {
  const [first] = run;
  if (!first) return [];
  const { workflowId, planId, requestedBy, reason, undoes } = first;
  return [
    workflowId ?? `plan ${planId}`,
    ...facts([
      ...(requestedBy === null ? [] : [['by', requestedBy] as const]),
      ...(reason === null ? [] : [['reason', reason] as const]),
      ...(undoes === null ? [] : [['undoes', nameOf(undoes)] as const]),
      ['plan', planId],
    ]),
    ...table(columns, run.map(row)),
  ];
}

function row({ key, committedAt, action, rowsBefore, rowsAfter, generation, ...entry }: HistoryEntry): string[] {
  const state = entry.isCurrent ? (entry.isOutdated ? 'outdated' : '') : 'replaced since';
  const now = entry.undoneBy === null ? state : `undone by ${nameOf(entry.undoneBy)}`;
  const rows = [printCount(rowsBefore), printCount(rowsAfter)];
  return [key, printTime(committedAt), action, ...rows, `${generation}`, now];
}

function nameOf({ workflowId, planId }: RunName): string {
  return workflowId ?? `plan ${planId}`;
}

/** One character a partition. */
const marks = {
  current: '█',
  outdated: '▒',
  provisional: '◐',
  failed: '✗',
  gone: '?',
  unrecorded: '·',
} satisfies Record<RecordState, string>;

const words = {
  current: 'current',
  outdated: 'outdated',
  provisional: 'provisional',
  failed: 'failed',
  gone: 'gone',
  unrecorded: 'never written',
} satisfies Record<RecordState, string>;

/** Puts a mark into colour, where there is colour. */
export type Paint = (state: RecordState, mark: string) => string;

/** A line for each month of days, every day at its own place, and what the marks mean. */
export function calendarOf(partitions: readonly PartitionRecord[], paint: Paint): string[] {
  const months = new Map<string, string[]>();
  for (const { key, state } of partitions) {
    const cut = Math.max(key.lastIndexOf('-'), 0);
    const cells = months.get(key.slice(0, cut)) ?? [];
    const place = Number(key.slice(cut + 1)) - 1;
    // A key that does not end in a number takes the next place.
    cells[place >= 0 ? place : cells.length] = paint(state, marks[state]);
    months.set(key.slice(0, cut), cells);
  }
  const legend = (Object.keys(marks) as RecordState[])
    .filter((state) => partitions.some((partition) => partition.state === state))
    .map((state) => `${paint(state, marks[state])} ${words[state]}`);
  const lines = [...months].map(([month, cells]) => `  ${month}  ${Array.from(cells, (cell) => cell ?? ' ').join('')}`);
  return [...lines, `  ${legend.join('  ')}`];
}

/** Ranges of one state that fit a few lines. */
const MOST_RANGES = 20;

function firstOf(ranges: readonly string[]): string {
  const more = ranges.length - MOST_RANGES;
  const shown = ranges.slice(0, MOST_RANGES).join(', ');
  return more > 0 ? `${shown} and ${printCount(more)} more (all: --json)` : shown;
}

/** How many partitions are in each state, and which are not as they should be. */
export function partitionsLines(partitions: readonly PartitionRecord[]): string[] {
  if (partitions.length === 0) return ['There is no partition.'];
  const keysIn = (state: RecordState) => partitions.filter((one) => one.state === state).map(({ key }) => key);
  const order = partitions.map(({ key }) => key);
  const notable = (['failed', 'outdated', 'provisional', 'gone'] as const).flatMap((state) => {
    const keys = keysIn(state);
    return keys.length === 0 ? [] : [`${words[state]}, ${printCount(keys.length)}: ${firstOf(rangesOf(keys, order))}`];
  });
  const counts = `${printCount(keysIn('current').length)} current, ${printCount(keysIn('unrecorded').length)} never written`;
  return [...wrap(`${countOf(partitions.length, 'partition')}: ${counts}.`), ...items(notable)];
}
