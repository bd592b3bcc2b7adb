import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { type Cli, printJson } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';

interface Flags extends JsonFlag {
  readonly config?: string;
}

const examples = `
Runs until Ctrl-C or SIGTERM, and lets the partitions in flight end first.

Environment:
  DATABASE_URL            the database, where the config file names none
  BACKFILL_POOL_SIZE      connections, and so partitions at once (10)
  BACKFILL_LEDGER_SCHEMA  schema of the ledger (backfill)
  BACKFILL_TASK_QUEUE     task queue (backfill)
  BACKFILL_HTTP           port or host:port of /healthz, /readyz and /metrics
  BACKFILL_LOG_LEVEL      DEBUG, INFO, WARN or ERROR (WARN), to stderr as JSON
  NODE_OPTIONS            --max-old-space-size=512 keeps it under 512 MB, also
                          while it plans 100,000 partitions

Example:
  $ DATABASE_URL=postgres://… TEMPORAL_ADDRESS=… backfill worker
`;

export function addWorkerCommand(program: Command, cli: Cli): void {
  const command = program
    .command('worker')
    .description('Run a worker with the definitions of backfill.config.ts.')
    .option('--config <file>', 'the definitions (default: BACKFILL_CONFIG or backfill.config.ts)');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (flags: Flags) => cli.exit(await worker(cli, flags)));
}

async function worker({ io }: Cli, { config, json }: Flags): Promise<number> {
  const { runWorker } = await import('../../worker.js');
  await runWorker({ env: io.env, onReady: announce, ...(config === undefined ? {} : { configPath: config }) });
  if (json) printJson(io, { outcome: 'stopped' });
  return exitCodes.completed;
}

/** To `backfill dev`, which started this process and waits for it to poll. */
function announce(): void {
  process.send?.('ready');
}
