import type { Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import type { TableState } from '../../domain/table-state.js';
import { type ListedTable, tablesLines } from '../../report/tables-text.js';
import { wrap } from '../../report/text.js';
import { type Cli, type LocalDefinitions, printJson, printLines, withClient } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';
import { readAllTables } from '../read-all.js';

const examples = `
Shows the definitions of the worker, which count, with what the database has of
each table. Where there is a config file here, it also says which definitions
differ from the worker's: edited, not deployed.

Examples:
  $ backfill tables
  $ BACKFILL_CONFIG=../other/backfill.config.ts backfill tables
`;

export function addTablesCommand(program: Command, cli: Cli): void {
  const command = program
    .command('tables')
    .description('List the tables that can be backfilled, and the state of each.');
  addJsonOption(command)
    .addHelpText('after', examples)
    .action(async (flags: JsonFlag) => cli.exit(await tables(cli, flags)));
}

function tables({ io }: Cli, { json }: JsonFlag): Promise<number> {
  return withClient(io, async ({ client }) => {
    const states = await readAllTables(client);
    const local = await io.readLocalDefinitions();
    const listed = compare(states, local);
    if (json)
      printJson(io, { tables: listed.map(toJson), local: local ? { file: local.file, problem: local.problem } : null });
    else printLines(io.stdout, [...tablesLines(listed), ...aboutFile(local)]);
    return exitCodes.completed;
  });
}

function compare(states: readonly TableState[], local: LocalDefinitions | undefined): ListedTable[] {
  const digests = local && local.problem === null ? local.digests : undefined;
  const known = new Set(states.map(({ name }) => name));
  const own = [...(digests?.keys() ?? [])].filter((name) => !known.has(name));
  return [
    ...states.map((state) => ({ name: state.name, state, deployment: digests ? deploymentOf(state, digests) : null })),
    ...own.map((name) => ({ name, state: null, deployment: 'not-deployed' as const })),
  ];
}

function deploymentOf({ name, digest }: TableState, digests: ReadonlyMap<string, string>) {
  const own = digests.get(name);
  if (own === undefined) return 'not-in-file' as const;
  return own === digest ? ('deployed' as const) : ('edited' as const);
}

function toJson({ name, state, deployment }: ListedTable): object {
  return { name, deployment, state };
}

function aboutFile(local: LocalDefinitions | undefined): string[] {
  if (!local) return [];
  const { file, problem } = local;
  return ['', ...wrap(problem === null ? `Compared with ${file}.` : `Not compared with a local file: ${problem}`)];
}
