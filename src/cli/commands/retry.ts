import type { Command } from 'commander';
import type { BackfillHandle } from '../../client/backfill-handle.js';
import type { RunSummary } from '../../client/run-summary.js';
import { CliRefusal } from '../exit.js';
import { type FollowFlags, follow } from '../follow.js';
import { type Cli, type CliClient, type CliIo, withClient } from '../io.js';
import { type WhoFlags, addJsonOption, addWhoOptions, whoOf } from '../options.js';
import { type AskFlags, agreeTo, outputOf, requireAnswer, showPlan } from '../show-plan.js';

interface Flags extends WhoFlags, FollowFlags, AskFlags {
  readonly json?: boolean;
  readonly replan?: boolean;
}

const examples = `
Goes on at the first unfinished partition, under the same plan. Where the fix
was to the definition, --replan plans the unfinished partitions anew with it,
shows that plan with the keys that the old one built, and asks.

Examples:
  $ backfill retry backfill/mart.daily_revenue/2026-03-01..2026-03-14
  $ backfill retry --replan backfill/mart.daily_revenue/2026-03-01..2026-03-14
`;

export function addRetryCommand(program: Command, cli: Cli): void {
  const command = program
    .command('retry')
    .description('Go on with a run that failed or was cancelled.')
    .argument('<run>', 'workflow id of the run')
    .option('--replan', "plan the unfinished partitions anew with today's definition");
  addJsonOption(addWhoOptions(command))
    .option('--yes', 'do not ask (it asks with --replan only)')
    .option('--detach', 'do not watch the run')
    .addHelpText('after', examples)
    .action(async (workflowId: string, flags: Flags) => cli.exit(await retry(cli, workflowId, flags)));
}

async function retry({ io }: Cli, workflowId: string, flags: Flags): Promise<number> {
  if (flags.replan) requireAnswer(io, flags);
  return withClient(io, async (connection) => {
    const { client } = connection;
    const run = await client.get(workflowId).describe();
    if (run.status === 'completed') {
      throw new CliRefusal(`Run ${workflowId} has completed; start it again to do its work again`);
    }
    const handle = flags.replan
      ? await startAnew({ io, client }, run, flags)
      : await client.get(workflowId).retry(whoOf(io, flags));
    return follow({ io, connection, handle }, flags);
  });
}

interface Tools {
  readonly io: CliIo;
  readonly client: CliClient;
}

async function startAnew({ io, client }: Tools, run: RunSummary, flags: Flags): Promise<BackfillHandle> {
  const { workflowId, planId, status } = run;
  if (planId === null) throw new CliRefusal(`Run ${workflowId} has no plan to go on with; start it again`);
  if (status === 'running') throw new CliRefusal(`Run ${workflowId} is open; cancel it before you plan its rest anew`);
  const who = whoOf(io, flags);
  const plan = await client.plan({ plan: planId, replan: true, ...who });
  await showPlan(client, plan, outputOf(io, flags));
  await agreeTo(io, plan, flags);
  return client.start({ plan: plan.planId, ...who }, { workflowId });
}
