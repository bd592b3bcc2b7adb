import type pg from 'pg';
import { type Scenario, TABLES, slicesOf } from './scenario.js';

/** What somebody would write in an hour: a connection, a loop, one transaction a partition, each statement a message. */
export async function runPlainLoop(db: pg.Client, scenario: Scenario): Promise<void> {
  const { target, source, column } = TABLES[scenario.grain];
  for (const { start, end } of slicesOf(scenario)) {
    const within = `${column} >= '${start}' and ${column} < '${end}'`;
    await db.query('begin');
    await db.query(`delete from ${target} where ${within}`);
    await db.query(`insert into ${target} select ${column}, id, amount from ${source} where ${within}`);
    await db.query('commit');
  }
}
