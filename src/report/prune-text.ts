import { type PruneResult, totalPruned } from '../domain/prune.js';
import { printCount, printTime } from './figures.js';
import { table, wrap } from './text.js';

/** How many rows of the ledger go, or went. */
export function pruneLines({ before, dryRun, counts }: PruneResult): string[] {
  const what = `of the ledger from before ${printTime(before)}`;
  if (totalPruned(counts) === 0) return [`Nothing ${what} can go.`];
  const { plans, planPartitions, runs, replacements, failures } = counts;
  const rows = Object.entries({ plans, 'partitions of plans': planPartitions, runs, replacements, failures });
  return [
    dryRun ? `Rows ${what} that can go:` : `Deleted ${what}:`,
    ...table(
      [
        { title: '', align: 'left' },
        { title: 'rows', align: 'right' },
      ],
      rows.map(([name, n]) => [name, printCount(n)]),
    ),
    ...(dryRun
      ? wrap('Open runs stay, as do the newest replacement of every partition and all that a kept row refers to.')
      : []),
  ];
}
