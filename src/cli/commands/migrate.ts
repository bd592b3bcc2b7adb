import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { readDevState } from '../connection.js';
import { CliRefusal } from '../exit.js';
import { type Cli, type CliIo, printJson } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';

interface Flags extends JsonFlag {
  readonly print?: boolean;
}

const examples = `
The database is that of DATABASE_URL, or the one that \`backfill dev\` runs in
this folder. Run it as the owner of schema "backfill"; workers only check.

Examples:
  $ DATABASE_URL=postgres://… backfill migrate
  $ backfill migrate --print > ledger.sql
`;

export function addMigrateCommand(program: Command, cli: Cli): void {
  const command = program
    .command('migrate')
    .description('Create the ledger (schema "backfill"), or bring it up to date.')
    .option('--print', 'print the SQL instead of running it');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (flags: Flags) => cli.exit(await migrate(cli, flags)));
}

async function migrate({ io }: Cli, { print, json }: Flags): Promise<number> {
  const { migrateLedger, printMigrations } = await import('../../postgres/migrate.js');
  if (print) {
    const sql = await printMigrations();
    if (json) printJson(io, { sql });
    else io.stdout.write(sql);
    return exitCodes.completed;
  }
  await migrateLedger({ databaseUrl: await databaseUrl(io) });
  if (json) printJson(io, { outcome: 'completed' });
  else io.stdout.write('The ledger is up to date.\n');
  return exitCodes.completed;
}

async function databaseUrl({ env }: CliIo): Promise<string> {
  const url = env['DATABASE_URL'] || (await readDevState())?.databaseUrl;
  if (!url) throw new CliRefusal('DATABASE_URL is not set, and no `backfill dev` runs in this folder');
  return url;
}
