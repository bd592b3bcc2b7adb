import type pg from 'pg';
import { type RunPhases, WRITING } from './phases.js';

/** Where the time of one run went. */
export interface Profile {
  /** A sentence and milliseconds; those of a partition are means. */
  readonly lines: readonly (readonly [what: string, ms: number])[];
}

export async function resetStatements(db: pg.Client): Promise<void> {
  await db.query('select pg_stat_statements_reset()');
}

interface StatementRow {
  readonly text: string;
  readonly calls: string;
  readonly planMs: number;
  readonly execMs: number;
}

export async function profileOf(db: pg.Client, phases: RunPhases, partitions: number): Promise<Profile> {
  const { rows } = await db.query<StatementRow>(
    `select regexp_replace(left(query, 200), '\\s+', ' ', 'g') as text, calls, total_plan_time as "planMs", total_exec_time as "execMs"
       from pg_stat_statements
      where dbid = (select oid from pg_database where datname = current_database())
        and query not like '%pg_stat_statements%' and query not like '%pg_current_wal_insert_lsn%'
        and query not ilike 'vacuum%' and query not ilike 'checkpoint%'
      order by total_plan_time + total_exec_time desc`,
  );
  const times = (row: StatementRow) => row.planMs + row.execMs;
  const sum = (some: readonly StatementRow[]) => some.reduce((all, row) => all + times(row), 0);
  const perPartition = rows.filter(({ calls }) => Number(calls) >= partitions);
  const each = (ms: number) => ms / partitions;
  return {
    lines: [
      ...taskLines(phases, partitions),
      ['SQL of a partition, planned and executed, all statements of it', each(sum(perPartition))],
      ...perPartition.slice(0, 8).map((row) => [`SQL: ${row.text.slice(0, 70)}`, each(times(row))] as const),
      ['SQL of the run as a whole', sum(rows.filter(({ calls }) => Number(calls) < partitions))],
      ...rows
        .filter(({ calls }) => Number(calls) < partitions)
        .slice(0, 5)
        .map((row) => [`SQL of the run: ${row.text.slice(0, 70)}`, times(row)] as const),
    ],
  };
}

function taskLines({ tasks, totalMs, writingMs }: RunPhases, partitions: number): Profile['lines'] {
  const writes = tasks.filter(({ name }) => name === WRITING);
  const begun = Math.min(...writes.map(({ scheduled }) => scheduled));
  const ended = Math.max(...writes.map(({ completed }) => completed));
  const turns = tasks.filter(({ name, scheduled }) => name === 'workflow' && scheduled >= begun && scheduled < ended);
  const others = tasks.filter(({ name }) => name !== WRITING && name !== 'workflow');
  const mean = (some: typeof tasks, from: 'scheduled' | 'started', to: 'started' | 'completed') =>
    some.reduce((all, task) => all + task[to] - task[from], 0) / partitions;
  return [
    ['run, start to close', totalMs],
    ['run but the writing (plan, open, last read, close)', totalMs - writingMs],
    ...others.map(
      ({ name, scheduled, completed }) => [`run: ${name}, scheduled to completed`, completed - scheduled] as const,
    ),
    ['partition, writing divided by their number', writingMs / partitions],
    ['partition: activity scheduled to started', mean(writes, 'scheduled', 'started')],
    ['partition: activity started to completed', mean(writes, 'started', 'completed')],
    ['partition: workflow task scheduled to started', mean(turns, 'scheduled', 'started')],
    ['partition: workflow task started to completed', mean(turns, 'started', 'completed')],
  ];
}
