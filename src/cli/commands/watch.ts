import type { Command } from 'commander';
import { watchToEnd } from '../follow.js';
import { type Cli, withClient } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';

const examples = `
Ctrl-C ends the watching, with exit code 130; the run goes on.

Example:
  $ backfill watch backfill/mart.daily_revenue/2026-03-01..2026-03-14
`;

export function addWatchCommand(program: Command, cli: Cli): void {
  const command = program
    .command('watch')
    .description('Show a run until it has ended, and end with its exit code.')
    .argument('<run>', 'workflow id of the run');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (workflowId: string, flags: JsonFlag) => cli.exit(await watch(cli, workflowId, flags)));
}

function watch({ io }: Cli, workflowId: string, flags: JsonFlag): Promise<number> {
  return withClient(io, (connection) =>
    watchToEnd({ io, connection, handle: connection.client.get(workflowId) }, flags),
  );
}
