import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { type Cli, withClient, printJson } from '../io.js';
import {
  type JsonFlag,
  type RequestFlags,
  type WhoFlags,
  addJsonOption,
  addRequestOptions,
  addWhoOptions,
  bothIncluded,
  keyForms,
  requestOf,
} from '../options.js';
import { showPlan } from '../show-plan.js';

type Flags = RequestFlags & WhoFlags & JsonFlag;

const examples = `
Examples:
  Fourteen days, both ends included:
  $ backfill plan mart.daily_revenue --from 2026-03-01 --to 2026-03-14
  Only those that are missing:
  $ backfill plan mart.daily_revenue --from 2026-01-01 --to 2026-03-14 \\
      --select missing
`;

export function addPlanCommand(program: Command, cli: Cli): void {
  const command = program
    .command('plan')
    .summary('Show what a backfill would write, and store that plan.')
    .description(`Show what a backfill would write, and store that plan.\n${bothIncluded}`)
    .argument('<table>', 'schema.table, as in the definition');
  addJsonOption(addWhoOptions(addRequestOptions(command)))
    .addHelpText('after', keyForms + examples)
    .action(async (table: string, flags: Flags) => cli.exit(await plan(cli, table, flags)));
}

function plan({ io }: Cli, table: string, flags: Flags): Promise<number> {
  const request = requestOf(io, table, flags);
  return withClient(io, async ({ client }) => {
    const made = await client.plan(request);
    if (flags.json) printJson(io, made);
    else await showPlan(client, made, io.stdout);
    if (!flags.json && made.refusals.length === 0) {
      io.stdout.write(`\nTo run exactly this plan:\n  backfill start --plan ${made.planId}\n`);
    }
    return made.refusals.length === 0 ? exitCodes.completed : exitCodes.refused;
  });
}
