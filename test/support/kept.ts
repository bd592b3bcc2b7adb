import type { TestDatabase } from './database.js';

/** Every row of a table, as text to the last bit. */
export async function rowsOf(db: TestDatabase, table: string): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(`select t::text as line from ${table} t order by 1`);
  return rows.map(({ line }) => line);
}

/** The tables in which replaced rows are kept, by name. */
export async function copiesOf(db: TestDatabase): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'backfill'::regnamespace and relkind = 'r' and relname like 'kept\\_%' order by 1`,
  );
  return rows.map(({ name }) => name);
}
