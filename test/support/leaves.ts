import type { TestDatabase } from './database.js';

/** The file of each partition of `fact`, by the partition's name: another number is another, or a rewritten, table. */
export async function leafFiles(db: TestDatabase): Promise<Map<string, number>> {
  const { rows } = await db.query<{ name: string; file: number }>(
    `select relname as name, relfilenode as file from pg_inherits join pg_class c on c.oid = inhrelid
      where inhparent = 'fact'::regclass order by 1`,
  );
  return new Map(rows.map(({ name, file }) => [name, file]));
}
