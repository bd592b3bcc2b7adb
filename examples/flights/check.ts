import { type Counts, type Query, readCounts } from './counts.js';
import { type Facts, FACTS } from './facts.js';

/** A number of a table, next to what it must be. */
interface Figure {
  readonly name: string;
  readonly found: number;
  readonly expected: number;
}

interface Check {
  readonly isRight: boolean;
  /** Each figure, next to what it must be. */
  readonly text: string;
}

/** Compares both tables with the facts. */
export async function checkFlights(query: Query): Promise<Check> {
  const checks: Check[] = [];
  for (const facts of FACTS) checks.push(checkTable(facts, await readCounts(query, facts)));
  return { isRight: checks.every(({ isRight }) => isRight), text: checks.map(({ text }) => text).join('\n') };
}

export function checkTable(facts: Facts, counts: Counts): Check {
  const figures = compare(facts, counts);
  const lines = figures.map((figure) => {
    const numbers = row(`  ${figure.name}`, format(figure.found), format(figure.expected));
    return `${numbers}  ${isRight(figure) ? 'ok' : 'NOT OK'}`;
  });
  return { isRight: figures.every(isRight), text: [row(facts.table, 'found', 'must be'), ...lines].join('\n') };
}

function compare(facts: Facts, { byPartition, byDay, bySourceDay }: Counts): Figure[] {
  const days = new Set([...byDay.keys(), ...bySourceDay.keys()]);
  const differing = [...days].filter((day) => byDay.get(day) !== bySourceDay.get(day));
  const empty = [...byPartition.values()].filter((flights) => flights === 0);
  return [
    { name: 'partitions', found: byPartition.size, expected: facts.partitions },
    { name: 'partitions without flights', found: empty.length, expected: 0 },
    { name: 'flights', found: total(byDay), expected: facts.flights },
    ...Object.entries(facts.flightsOn).map(([day, expected]) => {
      return { name: `flights on ${day}`, found: byDay.get(day) ?? 0, expected };
    }),
    { name: 'days unlike a count of the source', found: differing.length, expected: 0 },
  ];
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function isRight({ found, expected }: Figure): boolean {
  return found === expected;
}

function row(name: string, found: string, expected: string): string {
  return `  ${name.padEnd(38)}${found.padStart(10)}${expected.padStart(10)}`;
}

function format(count: number): string {
  return count.toLocaleString('en-US');
}
