import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FACT, NEW, factTable, fingerprints, strategies } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

const DAY = { table: 'fact', from: '2024-03-05', to: '2024-03-05' };

/** Roles are the server's, not the database's: others may make theirs at the same time. */
const schemaOf = (reader: string, owner: string) => `
  create role ${reader}; create role ${owner};
  grant select on fact, fact_20240305 to ${reader}; alter table fact_20240305 owner to ${owner};
  alter table fact_20240305 set (fillfactor = 70); comment on table fact_20240305 is 'audited';
  create index only_here on fact_20240305 (amount);
  create function c28_noop() returns trigger language plpgsql as 'begin return new; end';
  create trigger t_here before update on fact_20240305 for each row execute function c28_noop();
  alter table fact_20240305 enable row level security;
  create policy only_some on fact_20240305 for select to ${reader} using (id > 10);
  alter table fact_20240305 replica identity full; alter table fact_20240305 alter amount set statistics 500;
  create publication audit for table fact_20240305;`;

/** All that is known of the partition of that day, found by its bounds. */
const KNOWN = `
  select c.relname as name, c.oid, c.relfilenode as file, c.relacl::text as grants, c.relowner::regrole::text as owner,
         obj_description(c.oid) as comment, c.reloptions as options, c.relreplident as identity, c.relrowsecurity as security,
         (select array_agg(polname::text || pg_get_expr(polqual, polrelid)) from pg_policy where polrelid = c.oid) as policies,
         (select array_agg(pg_get_indexdef(indexrelid) order by indexrelid) from pg_index where indrelid = c.oid) as indexes,
         (select array_agg(concat(pg_get_triggerdef(oid), tgenabled) order by oid) from pg_trigger where tgrelid = c.oid) as triggers,
         (select array_agg(pg_get_constraintdef(oid) order by conname) from pg_constraint where conrelid = c.oid) as constraints,
         (select array_agg(pubname::text) from pg_publication_tables where tablename = c.relname) as publications,
         (select array_agg(concat_ws(' ', attname, attstattarget, attstorage) order by attnum) from pg_attribute where attrelid = c.oid) as columns
    from pg_class c where c.oid in (select inhrelid from pg_inherits where inhparent = 'fact'::regclass)
     and pg_get_expr(c.relpartbound, c.oid) = 'FOR VALUES FROM (''2024-03-05'') TO (''2024-03-06'')'`;

describe.each(strategies)('%s', (strategy) => {
  let harness: Harness;
  let roles: readonly [string, string];
  beforeEach(async () => {
    harness = await createHarness(FACT, { tables: [factTable({ strategy })] });
    roles = [`c28_reader_${harness.db.name}`, `c28_owner_${harness.db.name}`];
    await harness.db.query(schemaOf(...roles));
  });
  afterEach(async () => {
    await harness.db.query(`drop owned by ${roles.join(', ')}; drop role ${roles.join(', ')}`);
    await harness.close();
  });

  test('C28 a partition that is replaced has all that it had, and fresh statistics', async () => {
    const { db, client } = harness;
    const before = (await db.query(KNOWN)).rows;
    const [reader, owner] = roles;
    expect(before).toMatchObject([
      {
        name: 'fact_20240305',
        grants: expect.stringContaining(`${reader}=r/`),
        owner,
        comment: 'audited',
        options: ['fillfactor=70'],
        security: true,
        policies: ['only_some(id > 10)'],
        triggers: [expect.stringContaining('t_here BEFORE UPDATE')],
        publications: ['audit'],
      },
    ]);
    expect((before[0] as { indexes: string[] }).indexes.join()).toContain('only_here');
    expect(await (await client.start(DAY)).result()).toMatchObject({ partitions: 1, rowsAfter: 100 });
    expect((await db.query(KNOWN)).rows).toEqual(before);
    expect((await fingerprints(db)).get('2024-03-05')).toMatchObject(NEW);

    const read = await db.query(`set role ${reader}; select count(*)::int as n from fact_20240305; reset role`);
    expect((read as unknown as { rows: unknown[] }[])[1]?.rows).toEqual([{ n: 90 }]);
    const { rows } = await db.query(
      `select most_common_vals::text as known from pg_stats where tablename = 'fact_20240305' and attname = 'amount'`,
    );
    expect(rows).toEqual([{ known: '{2.00}' }]);
  });
});
