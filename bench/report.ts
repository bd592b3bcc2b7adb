import { readFileSync, writeFileSync } from 'node:fs';
import type { Measurement, Round } from './measure.js';

interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Of numbers that are there: one at least. */
function spreadOf(numbers: readonly number[]): Spread {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = (i: number) => sorted[i] ?? NaN;
  const half = (sorted.length - 1) / 2;
  return { median: (at(Math.floor(half)) + at(Math.ceil(half))) / 2, min: at(0), max: at(sorted.length - 1) };
}

/** What a run may take at most of the loop's time, by scenario and concurrency. */
const GOALS: Readonly<Record<string, number>> = {
  '90x10000 at 1': 1.5,
  '90x10000 at 4': 0.9,
  '30x200000 at 1': 1.1,
  '30x200000 at 4': 0.7,
};

/** Where a measurement was made. */
export interface Circumstances {
  readonly date: string;
  readonly commit: string;
  /** A sentence of the machine and the versions. */
  readonly machine: string;
}

const HEAD = [
  ['scenario', 'at once', 'ours / plain', 'goal', 'plain, ms a partition', 'ours, ms a partition', 'ours, ms a run'],
  ['WAL a row, plain', 'WAL a row, ours', 'statements', 'round trips', 'events', 'worker, MiB', 'rounds', 'measured'],
].flat();

export function rowOf(measurement: Measurement, { date, commit }: Circumstances): string[] {
  const { scenario, concurrency, rounds, statements, roundTrips, peakMiB } = measurement;
  const { name, count, rows } = scenario;
  const median = (of: (round: Round) => number) => spreadOf(rounds.map(of)).median;
  const ratio = spreadOf(rounds.map(({ plain, ours }) => ours.ms / plain.ms));
  const goal = GOALS[`${name} at ${concurrency}`];
  return [
    name,
    String(concurrency),
    `**${ratio.median.toFixed(2)}** (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
    goal === undefined ? '' : `≤ ${goal} ${ratio.median <= goal ? 'met' : '**missed**'}`,
    median(({ plain }) => plain.ms / count).toFixed(1),
    median(({ phases }) => phases.writingMs / count).toFixed(1),
    median(({ phases }) => phases.totalMs - phases.writingMs).toFixed(0),
    median(({ plain }) => plain.walBytes / count / rows).toFixed(0),
    median(({ ours }) => ours.walBytes / count / rows).toFixed(0),
    String(statements),
    String(roundTrips),
    median(({ phases }) => phases.writingEvents / count).toFixed(1),
    peakMiB === null ? '?' : peakMiB.toFixed(0),
    String(rounds.length),
    `${date}, ${commit}`,
  ];
}

const [BEGIN, END] = ['<!-- measured: begin -->', '<!-- measured: end -->'];

/** Puts rows into the table of the page: in the place of those of the same scenario and concurrency, else below. */
export function writeTable(file: string, rows: readonly (readonly string[])[], { machine }: Circumstances): void {
  const page = readFileSync(file, 'utf8');
  const [before, rest = ''] = page.split(BEGIN);
  const [table = '', after] = rest.split(END);
  if (before === undefined || after === undefined) throw new Error(`${file} has lost its marks ${BEGIN} and ${END}`);
  const merged = new Map<string, string>();
  const known = table.split('\n').filter((line) => /^\| \d/.test(line));
  const lines = [...known, ...rows.map((cells) => lineOf(cells))];
  for (const line of lines)
    merged.set(
      line
        .split('|', 3)
        .map((cell) => cell.trim())
        .join(' '),
      line,
    );
  const rule = lineOf(HEAD.map(() => '---'));
  const text = [machine, '', lineOf(HEAD), rule, ...[...merged.values()].toSorted(byScenario)].join('\n');
  writeFileSync(file, `${before}${BEGIN}\n\n${text}\n\n${END}${after}`);
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Days before hours, then by their numbers. */
function byScenario(a: string, b: string): number {
  return Number(a.includes('hx')) - Number(b.includes('hx')) || a.localeCompare(b, 'en', { numeric: true });
}
