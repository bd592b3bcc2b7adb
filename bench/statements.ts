import type pg from 'pg';

/** What the server spent on one kind of statement since the last reset. */
export interface StatementTime {
  readonly text: string;
  readonly calls: number;
  /** Planned and executed. What a commit waits for the disk comes after it, and is not counted. */
  readonly ms: number;
}

export async function resetStatements(db: pg.Client): Promise<void> {
  await db.query('select pg_stat_statements_reset()');
}

/** The dearest first. Those of the bench itself are left out. */
export async function readStatements(db: pg.Client): Promise<StatementTime[]> {
  const { rows } = await db.query<StatementTime>(
    `select regexp_replace(left(query, 200), '\\s+', ' ', 'g') as text, calls::int, total_plan_time + total_exec_time as ms
       from pg_stat_statements
      where dbid = (select oid from pg_database where datname = current_database())
        and query !~* '^(vacuum|checkpoint)|pg_stat_statements|pg_current_wal_insert_lsn'
      order by ms desc`,
  );
  return rows;
}
