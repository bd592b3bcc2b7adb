import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { type PruneResult, totalPruned } from '../../domain/prune.js';
import { pruneLines } from '../../report/prune-text.js';
import { CliRefusal } from '../exit.js';
import { type Cli, type CliIo, printJson, printLines, withClient } from '../io.js';
import { addJsonOption } from '../options.js';
import { type AskFlags, outputOf, requireAnswer } from '../show-plan.js';

interface Flags extends AskFlags {
  readonly olderThan: string;
  readonly dryRun?: boolean;
}

const examples = `
Deletes plans that were never run or whose run is closed, and what is recorded
of replacements and failures. What stays: open runs, the newest replacement of
every partition, and every plan that a row that stays refers to. It shows what
goes, and asks. Ctrl-C ends the waiting; the deleting goes on.

Examples:
  $ backfill prune --older-than '90 days' --dry-run
  $ backfill prune --older-than '90 days' --yes
`;

export function addPruneCommand(program: Command, cli: Cli): void {
  const command = program
    .command('prune')
    .description('Delete old plans and records from the ledger.')
    .requiredOption('--older-than <span>', 'how old, at least "1 day"')
    .option('--dry-run', 'only show what would go')
    .option('--yes', 'do not ask');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (flags: Flags) => cli.exit(await prune(cli, flags)));
}

function prune({ io }: Cli, flags: Flags): Promise<number> {
  const { olderThan, dryRun = false } = flags;
  if (!dryRun) requireAnswer(io, flags);
  return withClient(io, async ({ client }) => {
    const shown = await client.prune({ olderThan, dryRun: true });
    const isOver = dryRun || totalPruned(shown.counts) === 0;
    if (isOver) return tell(io, shown, flags);
    printLines(outputOf(io, flags), pruneLines(shown));
    if (!flags.yes && !(await io.confirm('Delete these rows?', outputOf(io, flags)))) {
      throw new CliRefusal('Nothing was deleted');
    }
    return tell(io, await client.prune({ before: shown.before }), flags);
  });
}

function tell(io: CliIo, result: PruneResult, { json }: Flags): number {
  if (json) printJson(io, { outcome: 'completed', ...result });
  else printLines(io.stdout, pruneLines(result));
  return exitCodes.completed;
}
