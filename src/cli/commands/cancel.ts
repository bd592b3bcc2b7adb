import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { CliRefusal, INTERRUPTED } from '../exit.js';
import { linkTo, printEnd, untilEnded } from '../follow.js';
import { type Cli, printJson, withClient } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';
import { noticesOnly } from '../progress-view.js';
import { settle } from '../run-end.js';

interface Flags extends JsonFlag {
  readonly detach?: boolean;
}

const examples = `
What is done stays done; what is being written is rolled back. Exit code 0: the
run ended as cancelled. Had it ended otherwise meanwhile, its own exit code.

Example:
  $ backfill cancel backfill/mart.daily_revenue/2026-03-01..2026-03-14
`;

export function addCancelCommand(program: Command, cli: Cli): void {
  const command = program
    .command('cancel')
    .description('Stop a run, and wait until it has ended.')
    .argument('<run>', 'workflow id of the run')
    .option('--detach', 'do not wait');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (workflowId: string, flags: Flags) => cli.exit(await cancel(cli, workflowId, flags)));
}

function cancel({ io }: Cli, workflowId: string, { detach, json = false }: Flags): Promise<number> {
  return withClient(io, async (connection) => {
    const handle = connection.client.get(workflowId);
    const before = await handle.describe();
    if (before.status !== 'running')
      throw new CliRefusal(`Run ${workflowId} is not open: it has ended as ${before.status}`);
    await handle.cancel();
    if (detach) {
      if (json) printJson(io, { workflowId, planId: before.planId, outcome: 'asked' });
      else io.stdout.write(`Asked ${workflowId} to stop.\n`);
      return exitCodes.completed;
    }
    const run = await untilEnded(io, handle, noticesOnly(json ? io.stderr : io.stdout));
    if (!run) {
      io.stderr.write(`Run ${workflowId} was asked to stop and has not ended yet.\n`);
      return INTERRUPTED;
    }
    const settled = await settle(handle);
    const isCancelled = settled.outcome === 'cancelled';
    printEnd(
      io,
      { run, settled: isCancelled ? { ...settled, error: undefined } : settled, link: linkTo(connection, run) },
      json,
    );
    return isCancelled ? exitCodes.completed : settled.exitCode;
  });
}
