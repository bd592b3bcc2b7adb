import { type Command, Option } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { type RunStatus, type RunSummary, runStatuses } from '../../client/run-summary.js';
import { runListLines } from '../../report/run-list-text.js';
import { type Cli, printJson, printLines, withClient } from '../io.js';
import { suggestTable } from '../suggest.js';
import { type JsonFlag, addJsonOption, moment, wholeNumber } from '../options.js';

interface Flags extends JsonFlag {
  readonly table?: string;
  readonly state?: RunStatus;
  readonly since?: Date;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

const examples = `
Shows the latest runs, by the time at which they started.

Examples:
  $ backfill list
  $ backfill list --table mart.daily_revenue --state failed
  $ backfill list --since '7 days' --limit 500
`;

export function addListCommand(program: Command, cli: Cli): void {
  const command = program
    .command('list')
    .description('List the runs, latest first.')
    .option('--table <name>', 'only of this table')
    .addOption(new Option('--state <state>', 'only in this state').choices(runStatuses))
    .addOption(new Option('--since <when>', 'only those started since a date, or a span ago').argParser(moment))
    .addOption(new Option('--limit <n>', 'at most so many').argParser(wholeNumber).default(DEFAULT_LIMIT));
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (flags: Flags) => cli.exit(await list(cli, flags)));
}

function list({ io }: Cli, { table, state, since, limit, json }: Flags): Promise<number> {
  return withClient(io, async ({ client }) => {
    const runs: RunSummary[] = [];
    for await (const run of client.list({ table, status: state, since })) {
      if (runs.length >= limit) break;
      runs.push(run);
    }
    if (json) printJson(io, { runs });
    else printLines(io.stdout, runListLines(runs));
    const meant = runs.length === 0 && table !== undefined ? await suggestTable(client, table) : undefined;
    if (meant !== undefined) printLines(io.stderr, [`backfill: no run is of ${table}; did you mean ${meant}?`]);
    return exitCodes.completed;
  });
}
