import type { Command } from 'commander';
import type { UndoRequest } from '../../domain/request.js';
import { exitCodes } from '../../domain/outcome.js';
import type { Plan } from '../../domain/plan.js';
import { planSentence } from '../../report/plan-text.js';
import { wrap } from '../../report/text.js';
import { CliRefusal } from '../exit.js';
import { type FollowFlags, follow } from '../follow.js';
import { type Cli, type CliClient, type CliIo, printJson, printLines, withClient } from '../io.js';
import { type WhoFlags, addJsonOption, addWhoOptions, whoOf } from '../options.js';
import { type AskFlags, agreeTo, outputOf, requireAnswer, showPlan } from '../show-plan.js';

interface Flags extends WhoFlags, FollowFlags, AskFlags {
  readonly json?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly planOnly?: boolean;
}

const examples = `
Puts back, partition by partition, the rows that a run replaced, and empties
the partitions that it created. Shows the plan, asks, runs exactly that plan,
and watches it to its end. It is a run of its own: it can be cancelled, retried
and undone. Refused where something has written a partition since, and once
the time for which its rows are kept is over (keepReplaced in the definition).

Examples:
  $ backfill undo backfill/mart.daily_revenue/2026-03-01..2026-03-14
  A part of it, and only to see the plan:
  $ backfill undo backfill/mart.daily_revenue/2026-03-01..2026-03-14 \\
      --from 2026-03-05 --to 2026-03-06 --plan-only
`;

export function addUndoCommand(program: Command, cli: Cli): void {
  const command = program
    .command('undo')
    .description('Put back what a run replaced.')
    .argument('<run>', 'workflow id of the run, or the id of its plan')
    .option('--from <key>', 'first partition to put back (default: all that the run wrote)')
    .option('--to <key>', 'last partition to put back, included')
    .option('--plan-only', 'show the plan, store it, and start nothing');
  addJsonOption(addWhoOptions(command))
    .option('--yes', 'do not ask')
    .option('--detach', 'do not watch the run')
    .addHelpText('after', examples)
    .action(async (run: string, flags: Flags) => cli.exit(await undo(cli, run, flags)));
}

async function undo({ io }: Cli, run: string, flags: Flags): Promise<number> {
  if (!flags.planOnly) requireAnswer(io, flags);
  return withClient(io, async (connection) => {
    const { client } = connection;
    const request = { undo: await planOf(client, run), ...rangeOf(flags), ...whoOf(io, flags) };
    if (flags.planOnly) return showOnly(io, await client.plan(request), client, flags);
    const open = await client.findOpen(request);
    if (open) {
      outputOf(io, flags).write(`Run ${open.workflowId} is open already, with this request.\n`);
      return follow({ io, connection, handle: client.get(open.workflowId) }, flags);
    }
    const plan = await client.plan(request);
    await showPlan(client, plan, outputOf(io, flags));
    if (plan.refusals.length === 0 && writesNothing(plan)) return nothingToDo(io, plan, flags);
    await agreeTo(io, plan, flags);
    const handle = await client.start({ plan: plan.planId, ...whoOf(io, flags) });
    return follow({ io, connection, handle }, flags);
  });
}

/** A run is named by its workflow id; the history of a table names its plan, too, also when Temporal has forgotten it. */
async function planOf(client: CliClient, run: string): Promise<string> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(run)) return run;
  const { planId } = await client.get(run).describe();
  if (planId === null) throw new CliRefusal(`Run ${run} has no plan, so that there is nothing to undo`);
  return planId;
}

function rangeOf({ from, to }: Flags): Pick<UndoRequest, 'from' | 'to'> {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

async function showOnly(io: CliIo, plan: Plan, client: CliClient, { json }: Flags): Promise<number> {
  if (json) printJson(io, plan);
  else await showPlan(client, plan, io.stdout);
  const mayRun = plan.refusals.length === 0;
  if (!json && mayRun) io.stdout.write(`\nTo run exactly this plan:\n  backfill start --plan ${plan.planId}\n`);
  return mayRun ? exitCodes.completed : exitCodes.refused;
}

function writesNothing({ counts }: Plan): boolean {
  return counts.create + counts.replace === 0;
}

function nothingToDo(io: CliIo, plan: Plan, { json }: Flags): number {
  const { planId } = plan;
  if (json) printJson(io, { workflowId: null, planId, outcome: 'completed', partitions: 0 });
  else printLines(io.stdout, ['', ...wrap(`Nothing to do: the plan ${planSentence(plan)}.`)]);
  return exitCodes.completed;
}
