import { type Command, Option } from 'commander';
import type { HistoryEntry } from '../../domain/history.js';
import { exitCodes } from '../../domain/outcome.js';
import type { PartitionRecord } from '../../domain/table-state.js';
import { calendarOf, historyLines, partitionsLines } from '../../report/history-text.js';
import { paintOn } from '../colour.js';
import { type Cli, type CliIo, printJson, printLines, withClient } from '../io.js';
import { type JsonFlag, addJsonOption, wholeNumber } from '../options.js';
import { readAllPartitions, readNewest } from '../read-all.js';

interface Flags extends JsonFlag {
  readonly key?: string;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

const examples = `
Shows the state of every partition, on a terminal as a calendar, and then who
wrote what when, newest first. "outdated": written by another build than that
of the worker's definition today. With --key: every generation of one partition.

Examples:
  $ backfill history mart.daily_revenue
  $ backfill history mart.daily_revenue --key 2026-03-07
`;

export function addHistoryCommand(program: Command, cli: Cli): void {
  const command = program
    .command('history')
    .description('Say who wrote which partitions of a table when, and which are outdated.')
    .argument('<table>', 'schema.table, as in the definition')
    .option('--key <key>', 'only this partition')
    .addOption(new Option('--limit <n>', `at most so many replacements`).argParser(wholeNumber).default(DEFAULT_LIMIT));
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (table: string, flags: Flags) => cli.exit(await history(cli, table, flags)));
}

function history({ io }: Cli, table: string, { key, limit, json }: Flags): Promise<number> {
  return withClient(io, async ({ client }) => {
    const entries = await readNewest(client, { table, key, most: limit });
    const all = await readAllPartitions(client, table);
    const partitions = key === undefined ? all : all.filter((partition) => partition.key === key);
    if (json) printJson(io, { table, key: key ?? null, partitions, entries });
    else printLines(io.stdout, linesOf(io, partitions, entries));
    return exitCodes.completed;
  });
}

function linesOf(
  { stdout, env }: CliIo,
  partitions: readonly PartitionRecord[],
  entries: readonly HistoryEntry[],
): string[] {
  const calendar = stdout.isTTY && partitions.length > 1 ? [...calendarOf(partitions, paintOn(stdout, env)), ''] : [];
  return [...calendar, ...partitionsLines(partitions), '', ...historyLines(entries)];
}
