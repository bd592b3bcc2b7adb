import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { exitCodes } from '../domain/outcome.js';
import { addCancelCommand } from './commands/cancel.js';
import { addCompletionCommand } from './commands/completion.js';
import { addDevCommand } from './commands/dev.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addHistoryCommand } from './commands/history.js';
import { addListCommand } from './commands/list.js';
import { addMigrateCommand } from './commands/migrate.js';
import { addPlanCommand } from './commands/plan.js';
import { addPruneCommand } from './commands/prune.js';
import { addRetryCommand } from './commands/retry.js';
import { addStartCommand } from './commands/start.js';
import { addStatusCommand } from './commands/status.js';
import { addTablesCommand } from './commands/tables.js';
import { addUndoCommand } from './commands/undo.js';
import { addWatchCommand } from './commands/watch.js';
import { addWorkerCommand } from './commands/worker.js';
import { COMPLETE, complete } from './complete.js';
import { describeError, outcomeOf, printError } from './exit.js';
import { type Cli, type CliIo, printJson, printLines } from './io.js';

const help = `
Both ends of a range are included: --from 2026-03-01 --to 2026-03-14 are
fourteen days.

Exit codes:
  0    done; of start, watch and retry: the run completed
  1    the run failed; of doctor: there is a problem
  2    refused, or not possible: bad usage, no worker, no server, no such run
  3    the run was cancelled
  130  Ctrl-C while watching: the run goes on

Where Temporal is comes from TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
TEMPORAL_PROFILE and Temporal's config file; where none of them says, from the
stack that \`backfill dev\` runs in this folder. BACKFILL_TASK_QUEUE names the
task queue of the workers, if it is not "backfill". BACKFILL_UI_URL is the
address of the Web UI. BACKFILL_DEBUG=1 shows where an error came from.

Examples:
  $ backfill plan mart.daily_revenue --from 2026-03-01 --to 2026-03-14
  $ backfill start mart.daily_revenue --from 2026-03-01 --to 2026-03-14
  $ backfill retry backfill/mart.daily_revenue/2026-03-01..2026-03-14
`;

const adders = [
  addPlanCommand,
  addStartCommand,
  addWatchCommand,
  addStatusCommand,
  addListCommand,
  addCancelCommand,
  addRetryCommand,
  addUndoCommand,
  addTablesCommand,
  addHistoryCommand,
  addDoctorCommand,
  addDevCommand,
  addWorkerCommand,
  addMigrateCommand,
  addPruneCommand,
  addCompletionCommand,
];

/** Runs one command line and returns the exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = exitCodes.completed;
  const program = buildProgram({ io, exit: (code) => (exitCode = code) });
  if (args[0] === COMPLETE) {
    printLines(io.stdout, await complete(program, args.slice(1), io));
    return exitCode;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed its own words; help asked for is no error.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.completed;
    const isUsage = error instanceof CommanderError;
    if (!isUsage) io.stderr.write(printError(error, io.env));
    const outcome = isUsage ? 'refused' : outcomeOf(error);
    if (args.includes('--json')) printJson(io, { outcome, error: isUsage ? usageError(error) : describeError(error) });
    return exitCodes[outcome];
  }
}

function buildProgram(cli: Cli): Command {
  const { stdout, stderr } = cli.io;
  const program = new Command('backfill')
    .description('Replaces the partitions of a table in a range, oldest first, each in one transaction.')
    .exitOverride()
    .version(readVersion())
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: (text, write) => write(`backfill: ${oneSentence(text)} (--help shows the options)\n`),
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    })
    .addHelpText('after', help);
  for (const add of adders) add(program, cli);
  return program;
}

function oneSentence(usage: string): string {
  return usage
    .replace(/^error: /, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Commander's error with the words that were printed. */
function usageError({ message }: CommanderError): object {
  return { name: 'UsageError', message: oneSentence(message) };
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
