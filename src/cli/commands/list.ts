import { type Command, Option } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { type RunStatus, type RunSummary, runStatuses } from '../../client/run-summary.js';
import { runListLines } from '../../report/run-list-text.js';
import { type Cli, printJson, printLines, withClient } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';

interface Flags extends JsonFlag {
  readonly table?: string;
  readonly status?: RunStatus;
}

const LIMIT = 50;

const examples = `
Shows the latest ${LIMIT} runs.

Examples:
  $ backfill list
  $ backfill list --table mart.daily_revenue --status failed
`;

export function addListCommand(program: Command, cli: Cli): void {
  const command = program
    .command('list')
    .description('List the runs, latest first.')
    .option('--table <name>', 'only of this table')
    .addOption(new Option('--status <status>', 'only in this state').choices(runStatuses));
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (flags: Flags) => cli.exit(await list(cli, flags)));
}

function list({ io }: Cli, { table, status, json }: Flags): Promise<number> {
  return withClient(io, async ({ client }) => {
    const runs: RunSummary[] = [];
    for await (const run of client.list({ table, status })) {
      runs.push(run);
      if (runs.length === LIMIT) break;
    }
    if (json) printJson(io, { runs });
    else printLines(io.stdout, runListLines(runs));
    return exitCodes.completed;
  });
}
