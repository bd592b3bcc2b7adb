import type { Command } from 'commander';
import { unusableServer } from '../../client/doctor.js';
import { ServerUnreachable } from '../../client/errors.js';
import type { DoctorTarget, Finding } from '../../domain/finding.js';
import { exitCodes } from '../../domain/outcome.js';
import { doctorLines } from '../../report/doctor-text.js';
import { CliRefusal } from '../exit.js';
import { type Cli, type CliIo, printJson, printLines, withClient } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';

interface Flags extends JsonFlag {
  readonly from?: string;
  readonly to?: string;
}

const examples = `
Looks at Temporal and its workers and, through a worker, at the database:
versions, rights, connections, the ledger, builds, default partitions, time
zones. Writes nothing. Each problem comes with its remedy, missing rights as SQL
to run. Exit code 0: no problem, but warnings maybe; 1: a problem.

Examples:
  $ backfill doctor
  $ backfill doctor mart.daily_revenue --from 2026-03-01 --to 2026-03-14
`;

export function addDoctorCommand(program: Command, cli: Cli): void {
  const command = program
    .command('doctor')
    .description('Look for what stands in the way of backfills.')
    .argument('[table]', 'only this table')
    .option('--from <key>', 'first partition of a range of it, included')
    .option('--to <key>', 'last partition of the range, included');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (table: string | undefined, flags: Flags) => cli.exit(await doctor(cli, table, flags)));
}

async function doctor({ io }: Cli, table: string | undefined, { from, to, json }: Flags): Promise<number> {
  if (table === undefined && (from ?? to) !== undefined) {
    throw new CliRefusal('--from and --to are of a table: name it');
  }
  if ((from === undefined) !== (to === undefined)) {
    throw new CliRefusal('--from and --to belong together; both ends of the range are included');
  }
  const target = { ...(table && { table }), ...(from && { from }), ...(to && { to }) };
  const findings = await examine(io, target);
  const hasProblem = findings.some(({ level }) => level === 'problem');
  if (json) printJson(io, { outcome: hasProblem ? 'failed' : 'completed', findings });
  else printLines(io.stdout, doctorLines(findings));
  return hasProblem ? exitCodes.failed : exitCodes.completed;
}

/** A server that is not there is what a doctor is asked about. */
async function examine(io: CliIo, target: DoctorTarget): Promise<readonly Finding[]> {
  try {
    return await withClient(io, ({ client }) => client.doctor(target));
  } catch (error) {
    if (error instanceof ServerUnreachable) return [unusableServer(error)];
    throw error;
  }
}
