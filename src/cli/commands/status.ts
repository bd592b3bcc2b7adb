import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { statusLines } from '../../report/progress-text.js';
import { runLines } from '../../report/run-list-text.js';
import { outcomeLines } from '../../report/outcome-text.js';
import type { RunSummary } from '../../client/run-summary.js';
import { type Following, linkTo } from '../follow.js';
import { type Cli, printJson, printLines, withClient } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';
import { settle } from '../run-end.js';

const examples = `
Exit code 0 says that the state is known, not that the run went well.

Example:
  $ backfill status backfill/mart.daily_revenue/2026-03-01..2026-03-14
`;

export function addStatusCommand(program: Command, cli: Cli): void {
  const command = program
    .command('status')
    .description('Say how far a run is, or how it ended.')
    .argument('<run>', 'workflow id of the run');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (workflowId: string, flags: JsonFlag) => cli.exit(await status(cli, workflowId, flags)));
}

function status({ io }: Cli, workflowId: string, flags: JsonFlag): Promise<number> {
  return withClient(io, async (connection) => {
    const following = { io, connection, handle: connection.client.get(workflowId) };
    const run = await following.handle.describe();
    await (run.status === 'running' ? tellOpen(following, run, flags) : tellEnded(following, run, flags));
    return exitCodes.completed;
  });
}

/** The server's part comes first, so that it is there also when no worker answers. */
async function tellOpen({ io, connection, handle }: Following, run: RunSummary, { json }: JsonFlag): Promise<void> {
  const link = linkTo(connection, run);
  if (!json) printLines(io.stdout, [...runLines(run), ...(link ? [`  ${link}`] : []), '']);
  const progress = await handle.progress();
  if (json) printJson(io, { ...run, link, progress });
  else printLines(io.stdout, statusLines(progress));
}

async function tellEnded({ io, connection, handle }: Following, run: RunSummary, { json }: JsonFlag): Promise<void> {
  const link = linkTo(connection, run);
  const { end, outcome, json: details } = await settle(handle);
  if (json) printJson(io, { ...run, link, outcome, ...details });
  else printLines(io.stdout, [...runLines(run), '', ...outcomeLines(end, { ...run, link })]);
}
