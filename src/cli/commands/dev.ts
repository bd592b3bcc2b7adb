import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { STATE_FOLDER } from '../connection.js';
import { type Cli, printJson } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';

const examples = `
Its data stays in ${STATE_FOLDER}/ of this folder, where the other commands find it.
Ctrl-C stops everything that it started.

Example:
  $ backfill dev
`;

export function addDevCommand(program: Command, cli: Cli): void {
  const command = program
    .command('dev')
    .description('Run Temporal with its Web UI, PostgreSQL and a worker on this machine, without Docker.');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (flags: JsonFlag) => cli.exit(await dev(cli, flags)));
}

async function dev({ io }: Cli, { json }: JsonFlag): Promise<number> {
  const { runDev } = await import('../../dev/dev.js');
  const output = json ? io.stderr : io.stdout;
  // In a terminal, the progress of a command may stand in the line: it will be drawn anew.
  const clear = output.isTTY ? '\r\u001b[2K' : '';
  const log = (line: string) => void output.write(`${clear}${line}\n`);
  const config = io.env['BACKFILL_CONFIG'] || 'backfill.config.ts';
  const worker = existsSync(config);
  if (!worker) log(`There is no ${config} here, so no worker is started`);
  return runDev({
    folder: STATE_FOLDER,
    env: io.env,
    worker,
    log,
    // The database's address stays out: it holds a password.
    onReady: ({ temporalAddress, uiUrl, temporalCli }) =>
      json ? printJson(io, { temporalAddress, uiUrl, temporalCli }) : undefined,
  });
}
