import type { Round } from './measure.js';
import { type RunPhases, isWriting } from './phases.js';
import type { StatementTime } from './statements.js';

/** Where the time of a round went, in milliseconds. */
export type Profile = readonly (readonly [what: string, ms: number])[];

export interface Spent {
  readonly plain: readonly StatementTime[];
  readonly ours: readonly StatementTime[];
}

const SHOWN = 6;

export function profileOf({ plain, phases }: Round, spent: Spent, partitions: number): Profile {
  const each = (ms: number) => ms / partitions;
  const isOfPartition = ({ calls }: StatementTime) => calls >= partitions;
  const ofPartition = spent.ours.filter(isOfPartition);
  const ofRun = spent.ours.filter((one) => !isOfPartition(one));
  return [
    ['plain: a partition', each(plain.ms)],
    ['plain: SQL of a partition', each(sum(spent.plain))],
    ...list('plain SQL', spent.plain, each),
    ...taskLines(phases, partitions),
    ['partition: SQL of it', each(sum(ofPartition))],
    ...list('partition SQL', ofPartition, each),
    ['run: SQL of it as a whole', sum(ofRun)],
    ...list('run SQL', ofRun, (ms) => ms),
  ];
}

function sum(statements: readonly StatementTime[]): number {
  return statements.reduce((all, { ms }) => all + ms, 0);
}

function list(label: string, statements: readonly StatementTime[], scale: (ms: number) => number): Profile {
  return statements.slice(0, SHOWN).map(({ text, ms }) => [`${label}: ${text.slice(0, 70)}`, scale(ms)] as const);
}

/** With more than one at once, times of a partition overlap, and add up to more than its share. */
function taskLines({ tasks, totalMs, writingMs }: RunPhases, partitions: number): Profile {
  const writes = tasks.filter(isWriting);
  const begun = Math.min(...writes.map(({ scheduled }) => scheduled));
  const ended = Math.max(...writes.map(({ completed }) => completed));
  const turns = tasks.filter(({ name, scheduled }) => name === 'workflow' && scheduled >= begun && scheduled < ended);
  const others = tasks.filter((task) => !isWriting(task) && task.name !== 'workflow');
  const mean = (some: typeof tasks, from: 'scheduled' | 'started', to: 'started' | 'completed') =>
    some.reduce((all, task) => all + task[to] - task[from], 0) / partitions;
  return [
    ['run: start to close', totalMs],
    ['run: all but the writing', totalMs - writingMs],
    ...others.map(
      ({ name, scheduled, completed }) => [`run: ${name}, scheduled to completed`, completed - scheduled] as const,
    ),
    ['partition: the writing divided by their number', writingMs / partitions],
    ['partition: activity scheduled to started', mean(writes, 'scheduled', 'started')],
    ['partition: activity started to completed', mean(writes, 'started', 'completed')],
    ['partition: workflow task scheduled to started', mean(turns, 'scheduled', 'started')],
    ['partition: workflow task started to completed', mean(turns, 'started', 'completed')],
  ];
}
