import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { failuresLines } from '../../report/failures-text.js';
import { statusLines } from '../../report/progress-text.js';
import { runLines } from '../../report/run-list-text.js';
import { outcomeLines } from '../../report/outcome-text.js';
import type { RunSummary } from '../../client/run-summary.js';
import { type Following, linkTo } from '../follow.js';
import { type Cli, type CliClient, printJson, printLines, withClient } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';
import { readAllFailures } from '../read-all.js';
import { settle } from '../run-end.js';

const examples = `
--failed lists every partition that failed and was not written since, each with
its whole failure.

Exit code 0 says that the state is known, not that the run went well.

Examples:
  $ backfill status backfill/mart.daily_revenue/2026-03-01..2026-03-14
  $ backfill status backfill/mart.daily_revenue/2026-03-01..2026-03-14 --failed
`;

interface Flags extends JsonFlag {
  readonly failed?: boolean;
}

export function addStatusCommand(program: Command, cli: Cli): void {
  const command = program
    .command('status')
    .description('Say how far a run is, or how it ended.')
    .argument('<run>', 'workflow id of the run')
    .option('--failed', 'list its failed partitions');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (workflowId: string, flags: Flags) => cli.exit(await status(cli, workflowId, flags)));
}

function status({ io }: Cli, workflowId: string, flags: Flags): Promise<number> {
  return withClient(io, async (connection) => {
    const following = { io, connection, handle: connection.client.get(workflowId) };
    const run = await following.handle.describe();
    const told = run.status === 'running' ? await tellOpen(following, run, flags) : await tellEnded(following, run);
    const failures = flags.failed ? await failuresOf(connection.client, run) : undefined;
    if (flags.json) printJson(io, { ...told.json, ...(failures && { failures }) });
    else printLines(io.stdout, [...told.lines, ...(failures ? ['', ...failuresLines(failures)] : [])]);
    return exitCodes.completed;
  });
}

/** Without a plan, nothing was written and nothing failed. */
async function failuresOf(client: CliClient, { planId }: RunSummary) {
  return planId === null ? [] : readAllFailures(client, planId);
}

interface Told {
  readonly lines: readonly string[];
  readonly json: object;
}

/** The server's part comes first, so that it is there also when no worker answers. */
async function tellOpen({ io, connection, handle }: Following, run: RunSummary, { json }: JsonFlag): Promise<Told> {
  const link = linkTo(connection, run);
  if (!json) printLines(io.stdout, [...runLines(run), ...(link ? [`  ${link}`] : []), '']);
  const progress = await handle.progress();
  return { lines: statusLines(progress), json: { ...run, link, progress } };
}

async function tellEnded({ connection, handle }: Following, run: RunSummary): Promise<Told> {
  const link = linkTo(connection, run);
  const { end, outcome, json: details } = await settle(handle);
  return {
    lines: [...runLines(run), '', ...outcomeLines(end, { ...run, link })],
    json: { ...run, link, outcome, ...details },
  };
}
