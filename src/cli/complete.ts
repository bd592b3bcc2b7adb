import type { Command, Option } from 'commander';
import { type CliClient, type CliIo, withClient } from './io.js';

/** The word by which the shells' scripts ask. No command: it is of no use to people. */
export const COMPLETE = '__complete';

/** Who presses Tab waits no longer. */
const PATIENCE_MS = 1_000;

/**
 * What may stand at the last of the words that follow `backfill`: commands and options out of the command tree, tables
 * and runs from the live worker and server. Silently nothing where these do not answer.
 */
export async function complete(program: Command, words: readonly string[], io: CliIo): Promise<readonly string[]> {
  const typed = words.at(-1) ?? '';
  const candidates = await candidatesFor(program, words, io);
  return candidates.filter((candidate) => candidate.startsWith(typed));
}

async function candidatesFor(program: Command, words: readonly string[], io: CliIo): Promise<readonly string[]> {
  const help = program.createHelp();
  const command = program.commands.find((one) => one.name() === words[0]);
  if (words.length <= 1 || !command) return help.visibleCommands(program).map((one) => one.name());
  const options = help.visibleOptions(command);
  const [before = '', typed = ''] = words.slice(-2);
  const valued = options.find((option) => option.long === before && takesValue(option));
  if (valued) return valued.argChoices ?? (valued.long === '--table' ? ask(io, tableNames) : []);
  if (typed.startsWith('-')) return options.flatMap(({ long }) => long ?? []);
  const given = countArguments(words.slice(1, -1), options);
  const argument = command.registeredArguments[given];
  if (argument?.argChoices) return argument.argChoices;
  const live = argument && liveArguments.get(argument.name());
  return live ? ask(io, live) : [];
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

/** Words that are neither options nor their values. */
function countArguments(words: readonly string[], options: readonly Option[]): number {
  const isValue = (i: number) => options.some((option) => option.long === words[i - 1] && takesValue(option));
  return words.filter((word, i) => !word.startsWith('-') && !isValue(i)).length;
}

type Ask = (client: CliClient) => Promise<string[]>;

const liveArguments: ReadonlyMap<string, Ask> = new Map([
  ['table', tableNames],
  ['run', runIds],
]);

async function tableNames(client: CliClient): Promise<string[]> {
  return (await client.readTables()).tables.map(({ name }) => name);
}

const MOST_RUNS = 50;

async function runIds(client: CliClient): Promise<string[]> {
  // A range that was run again has the same id again.
  const ids = new Set<string>();
  for await (const { workflowId } of client.list()) if (ids.add(workflowId).size >= MOST_RUNS) break;
  return [...ids];
}

/** A question that comes to nothing in time, or at all, is worth no word on the line that somebody types. */
async function ask(io: CliIo, question: Ask): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), PATIENCE_MS);
  });
  const answer = withClient(io, ({ client }) => question(client)).catch(() => []);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
