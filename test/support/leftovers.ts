import type { TestDatabase } from './database.js';

/** What a run must not leave behind: sessions at work, locks on the table or advisory ones, tables. */
export interface Leftovers {
  readonly sessions: number;
  readonly locks: number;
  /** Every table of every schema but the system's, partitions and the ledger's included. */
  readonly tables: readonly string[];
}

export async function leftovers(db: TestDatabase, table = 'fact'): Promise<Leftovers> {
  const { rows } = await db.query<Leftovers>(
    `select (select count(*)::int from pg_stat_activity where datname = current_database() and application_name like 'bf:%') as sessions,
            (select count(*)::int from pg_locks l join pg_database d on d.oid = l.database
              where d.datname = current_database() and l.pid <> pg_backend_pid()
                and (l.locktype = 'advisory' or l.relation in (select relid from pg_partition_tree($1)))) as locks,
            (select array_agg(c.oid::regclass::text order by 1) from pg_class c
              where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
                and c.relpersistence <> 't'
                -- What a run has replaced stays for a while, by the record of the ledger.
                and not exists (select from backfill.kept k where k.relation = c.relname and k.dropped_at is null)) as tables`,
    [table],
  );
  const [found] = rows;
  if (!found) throw new Error('The server answered nothing');
  return found;
}
