import type { PartitionCounts, RecordState, TableState } from '../domain/table-state.js';
import { grainText } from '../domain/grain.js';
import { printCount } from './figures.js';
import { facts } from './text.js';

/** How the definition in the local file compares with the worker's. */
export type DeploymentState = 'deployed' | 'edited' | 'not-deployed' | 'not-in-file';

export interface ListedTable {
  /** Null: the worker does not know it. */
  readonly state: TableState | null;
  readonly name: string;
  /** Null where there is no local file to compare with. */
  readonly deployment: DeploymentState | null;
}

/** Every table with its definition and its state in the database. */
export function tablesLines(tables: readonly ListedTable[]): string[] {
  if (tables.length === 0) return ['The worker has no definition of a table.'];
  return tables.flatMap((table, i) => [...(i === 0 ? [] : ['']), ...tableLines(table)]);
}

function tableLines({ name, state, deployment }: ListedTable): string[] {
  const local = deployment === null ? [] : [['local file', deployments[deployment]] as const];
  if (!state) return [name, ...facts(local)];
  const { description, owner, problem, digest } = state;
  return [
    name,
    ...facts([
      ...(description === null ? [] : [['about', description] as const]),
      ...(owner === null ? [] : [['owner', owner] as const]),
      ['partitions', partitions(state)],
      ...(problem === null ? [] : [['problem', problem] as const]),
      ['written', printCounts(state.counts)],
      ...openRuns(state),
      ['definition', digest.slice(0, 12)],
      ...local,
    ]),
  ];
}

const deployments = {
  deployed: "as the worker's",
  edited: "edited, not deployed: the worker's is another",
  'not-deployed': 'not deployed: the worker does not know this table',
  'not-in-file': 'not there: the worker has it from elsewhere',
} satisfies Record<DeploymentState, string>;

function partitions({ exists, partitions: count, firstKey, lastKey, partitioning }: TableState): string {
  if (!exists) return 'the table does not exist';
  const { timeZone, column } = partitioning;
  const range = firstKey === null ? '' : `, ${firstKey} to ${lastKey}`;
  return `${printCount(count)}, one every ${grainText(partitioning)}${range}; by ${column}, ${timeZone}`;
}

/** `14 current, 2 outdated, 350 never written by this software`. */
function printCounts(counts: PartitionCounts): string {
  const parts = (Object.keys(stateWords) as RecordState[])
    .filter((state) => counts[state] > 0)
    .map((state) => `${printCount(counts[state])} ${stateWords[state]}`);
  return parts.join(', ') || 'nothing yet';
}

/** In the order in which they are told. */
const stateWords = {
  current: 'current',
  outdated: 'outdated',
  provisional: 'provisional',
  failed: 'failed',
  gone: 'written and gone since',
  unrecorded: 'never written by this software',
} satisfies Record<RecordState, string>;

function openRuns({ openRuns: runs }: TableState): (readonly [string, string])[] {
  return runs.map(({ workflowId, from, to, requestedBy }, i) => {
    const who = requestedBy === null ? '' : `, by ${requestedBy}`;
    return [i === 0 ? 'open run' : '', `${workflowId} (${from} to ${to}${who})`];
  });
}
