import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import type { Plan } from '../../domain/plan.js';
import type { BackfillRequest, PlanRequest } from '../../domain/request.js';
import { planSentence } from '../../report/plan-text.js';
import { wrap } from '../../report/text.js';
import { CliRefusal } from '../exit.js';
import { type FollowFlags, follow } from '../follow.js';
import { type Cli, type CliClient, type CliIo, printJson, printLines, withClient } from '../io.js';
import {
  type RequestFlags,
  type WhoFlags,
  addJsonOption,
  addRequestOptions,
  addWhoOptions,
  bothIncluded,
  keyForms,
  requestFlags,
  requestOf,
  whoOf,
} from '../options.js';
import { type AskFlags, agreeTo, outputOf, requireAnswer, showPlan } from '../show-plan.js';

interface Flags extends RequestFlags, WhoFlags, FollowFlags, AskFlags {
  readonly json?: boolean;
  readonly plan?: string;
  readonly workflowId?: string;
}

const examples = `
Shows the plan, asks, runs exactly that plan, and watches it to its end. Ctrl-C
ends the watching, with exit code 130; the run goes on.

Examples:
  Fourteen days, both ends included:
  $ backfill start mart.daily_revenue --from 2026-03-01 --to 2026-03-14
  A plan that was shown before, without a question, without watching:
  $ backfill start --plan 0f8fad5b-d9cb-469f-a165-70867728950e --yes --detach
`;

export function addStartCommand(program: Command, cli: Cli): void {
  const command = program
    .command('start')
    .summary('Plan a backfill, show the plan, ask, and run it.')
    .description(`Plan a backfill, show the plan, ask, and run it.\n${bothIncluded}`)
    .argument('[table]', 'schema.table, as in the definition')
    .option('--plan <id>', 'run this stored plan; takes the place of table and range');
  addJsonOption(addWhoOptions(addRequestOptions(command)))
    .option('--yes', 'do not ask')
    .option('--detach', 'do not watch the run')
    .option('--workflow-id <id>', 'name of the run (default: backfill/TABLE/FROM..TO)')
    .addHelpText('after', keyForms + examples)
    .action(async (table: string | undefined, flags: Flags) => cli.exit(await start(cli, table, flags)));
}

async function start({ io }: Cli, table: string | undefined, flags: Flags): Promise<number> {
  const request = wanted(io, table, flags);
  requireAnswer(io, flags);
  return withClient(io, async (connection) => {
    const { client } = connection;
    const stored = 'plan' in request ? await readStored(client, request.plan) : undefined;
    const open = await client.findOpen(request, { workflowId: flags.workflowId });
    if (open) {
      outputOf(io, flags).write(`Run ${open.workflowId} is open already, with this request.\n`);
      return follow({ io, connection, handle: client.get(open.workflowId) }, flags);
    }
    const plan = stored ?? (await client.plan(request));
    await showPlan(client, plan, outputOf(io, flags));
    if (plan.refusals.length === 0 && plan.counts.create + plan.counts.replace === 0)
      return nothingToDo(io, plan, flags);
    await agreeTo(io, plan, flags);
    const toRun = { plan: plan.planId, ...whoOf(io, flags) };
    const handle = await client.start(toRun, { workflowId: flags.workflowId });
    return follow({ io, connection, handle }, flags);
  });
}

function wanted(io: CliIo, table: string | undefined, flags: Flags): BackfillRequest | PlanRequest {
  if (flags.plan === undefined) {
    if (table === undefined) throw new CliRefusal('Name a table with --from and --to, or a stored plan with --plan');
    return requestOf(io, table, flags);
  }
  const own = [table, ...Object.values(requestFlags(flags))];
  if (own.some((value) => value !== undefined)) {
    throw new CliRefusal('A plan holds its table, range and options: give --plan alone, or make a new plan');
  }
  return { plan: flags.plan, ...whoOf(io, flags) };
}

async function readStored(client: CliClient, planId: string): Promise<Plan> {
  const plan = await client.readPlan(planId);
  if (!plan) throw new CliRefusal(`No plan ${planId} is stored`);
  return plan;
}

function nothingToDo(io: CliIo, plan: Plan, { json }: Flags): number {
  const { planId } = plan;
  if (json) printJson(io, { workflowId: null, planId, outcome: 'completed', partitions: 0 });
  else printLines(io.stdout, ['', ...wrap(`Nothing to do: the plan ${planSentence(plan)}.`)]);
  return exitCodes.completed;
}
