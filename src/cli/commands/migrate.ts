import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { readDevState } from '../connection.js';
import { type Cli, type CliIo, printJson } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';

interface Flags extends JsonFlag {
  readonly print?: boolean;
}

const examples = `
The database is the one that workers use: that of the config file, where there
is one here, of DATABASE_URL, or of \`backfill dev\` in this folder. Run it as
the owner of the ledger's schema; workers only check. The schema is "backfill",
or that of database.ledgerSchema or BACKFILL_LEDGER_SCHEMA.

Examples:
  $ DATABASE_URL=postgres://… backfill migrate
  $ backfill migrate --print > ledger.sql
`;

export function addMigrateCommand(program: Command, cli: Cli): void {
  const command = program
    .command('migrate')
    .description('Create the ledger, or bring it up to date.')
    .option('--print', 'print the SQL instead of running it');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (flags: Flags) => cli.exit(await migrate(cli, flags)));
}

async function migrate({ io }: Cli, { print, json }: Flags): Promise<number> {
  const { migrateLedger, printMigrations } = await import('../../postgres/migrate.js');
  const { config, schema } = await readSettings(io);
  if (print) {
    const sql = await printMigrations(schema);
    if (json) printJson(io, { sql });
    else io.stdout.write(sql);
    return exitCodes.completed;
  }
  await migrateLedger({ databaseUrl: await urlOf(io, config), ...(schema === undefined ? {} : { schema }) });
  if (json) printJson(io, { outcome: 'completed' });
  else io.stdout.write('The ledger is up to date.\n');
  return exitCodes.completed;
}

/** From the config file, where there is one, and from the environment, as the worker reads them. */
async function readSettings({ env }: CliIo) {
  const { configFile, ledgerSchema } = await import('../../config/environment.js');
  const { loadConfig } = await import('../../config/load.js');
  const file = configFile(env);
  // Without a file there are no tables, and a ledger can be made all the same.
  const config = env['BACKFILL_CONFIG'] || existsSync(file) ? await loadConfig(file) : undefined;
  return { config, schema: ledgerSchema(env, config) };
}

async function urlOf({ env }: CliIo, config: { readonly databaseUrl: string | undefined } | undefined) {
  const { databaseUrl } = await import('../../config/environment.js');
  return databaseUrl(env, config?.databaseUrl, (await readDevState())?.databaseUrl);
}
