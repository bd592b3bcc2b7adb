import type pg from 'pg';
import { type Scenario, type Slice, TABLES, slicesOf } from './scenario.js';

/** Partitions made in one transaction: each of them holds locks until its end, of which a server has so many. */
const BATCH = 200;

/**
 * A source with an index on its time, and a target that is there and full, so that every pass replaces. Autovacuum is off
 * for both: it would come at a time of its own; see `settle`.
 */
export async function createTables(db: pg.Client, scenario: Scenario): Promise<void> {
  const { target, source, column, type } = TABLES[scenario.grain];
  const slices = slicesOf(scenario);
  await db.query(`
    create table ${source} (id bigint not null, ${column} ${type} not null, amount numeric(12,2) not null, note text)
      with (autovacuum_enabled = off);
    create table ${target} (${column} ${type} not null, id bigint not null, amount numeric(12,2) not null,
      primary key (${column}, id)) partition by range (${column});`);
  for (let i = 0; i < slices.length; i += BATCH)
    await fillBatch(db, scenario, { at: i, slices: slices.slice(i, i + BATCH) });
  await db.query(`create index on ${source} (${column}); analyze ${source}`);
  await settle(db, scenario);
}

async function fillBatch(
  db: pg.Client,
  { grain, rows }: Scenario,
  { at, slices }: { readonly at: number; readonly slices: readonly Slice[] },
): Promise<void> {
  const { target, source, column, type } = TABLES[grain];
  const leaves = slices.map(
    ({ start, end }, i) =>
      `create table ${target}_${at + i} partition of ${target} for values from ('${start}') to ('${end}')
         with (autovacuum_enabled = off)`,
  );
  await db.query(leaves.join(';\n'));
  const starts = slices.map(({ start }) => start);
  await db.query(
    `insert into ${source} (id, ${column}, amount, note)
     select i, s.start, i % 1000 / 100.0, 'note ' || i
       from unnest($1::${type}[]) s (start), generate_series(1, $2::int) i`,
    [starts, rows],
  );
  await db.query(
    `insert into ${target} (${column}, id, amount)
     select ${column}, id, 0 from ${source} where ${column} >= $1 and ${column} < $2`,
    [slices[0]?.start, slices.at(-1)?.end],
  );
}

/** The same state before each pass: no dead rows, and no checkpoint that is due. */
export async function settle(db: pg.Client, { grain }: Scenario): Promise<void> {
  await db.query(`vacuum ${TABLES[grain].target}`);
  await db.query(
    'vacuum backfill.partition, backfill.replacement, backfill.plan_partition, backfill.plan, backfill.run',
  );
  await db.query('checkpoint');
}
