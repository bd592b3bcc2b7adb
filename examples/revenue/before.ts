import type pg from 'pg';
import { fingerprintsOutside, revenueByDay } from './proof.js';
import { REQUEST } from './request.js';

type ByDay = ReadonlyMap<string, string>;

/** What the table was like before the run. */
export interface Before {
  readonly revenue: ByDay;
  readonly outside: ByDay;
}

/** Keeps it in the database, so that a start after a kill can still show it. */
export async function rememberBefore(database: pg.Client): Promise<void> {
  const query = (text: string, values: unknown[]) => database.query<{ day: string; figure: string }>(text, values);
  const revenue = await revenueByDay(query, REQUEST);
  const outside = await fingerprintsOutside(query, REQUEST);
  await database.query(`
    create schema if not exists demo;
    drop table if exists demo.before;
    create table demo.before (kind text, day text, figure text, primary key (kind, day))`);
  for (const [kind, figures] of Object.entries({ revenue, outside })) {
    await database.query('insert into demo.before select $1, * from unnest($2::text[], $3::text[])', [
      kind,
      [...figures.keys()],
      [...figures.values()],
    ]);
  }
}

export async function readBefore(database: pg.Client): Promise<Before> {
  const read = async (kind: string): Promise<ByDay> => {
    const { rows } = await database.query<{ day: string; figure: string }>(
      'select day, figure from demo.before where kind = $1 order by day',
      [kind],
    );
    return new Map(rows.map(({ day, figure }) => [day, figure]));
  };
  return { revenue: await read('revenue'), outside: await read('outside') };
}
