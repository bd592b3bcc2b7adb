import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { explainLedger, type Explained } from '../support/explained.js';
import { FACT, factTable } from '../support/fact.js';
import { FULL_LEDGER } from '../support/full-ledger.js';
import { type Harness, createHarness } from '../support/harness.js';

/** A page of the ledger is 500 rows. A statement that looks at more than this reads on with the size of the ledger. */
const FEW = 700;

/** What goes through all of it, because that is its task. */
const READS_ALL = [/\bkept \(plan_id\) as\b/, /_at < \$1::timestamptz/, /plan_id = any \(\$1\)/];

const options = { tables: [factTable()], pageSize: 5 };

let harness: Harness;
let seen: Explained[];
beforeAll(async () => {
  seen = explainLedger();
  harness = await createHarness(FACT, null);
  await harness.db.query(FULL_LEDGER);
  // As on disks without a moving head; otherwise reading all of some megabytes is taken for the cheaper way.
  await harness.db.query(`alter database ${harness.db.name} set random_page_cost = 1.1`);
  await harness.restartWorker(options);
});
afterAll(async () => {
  await harness.close();
  vi.restoreAllMocks();
});

test('no statement to a ledger of 20,000 runs looks at more of it than the page that it answers', async () => {
  await doEverything();
  const wasteful = seen
    .filter(({ text }) => !READS_ALL.some((all) => all.test(text)))
    .flatMap(({ text, scans }) =>
      scans.flatMap((scan) => (scan.rows > FEW && !isCopy(scan) ? [{ ...scan, text }] : [])),
    );
  expect(wasteful).toEqual([]);
  const texts = seen.map(({ text }) => text);
  expect(statementsInSource().filter((start) => !texts.some((text) => text.includes(start)))).toEqual([]);
});

test('every foreign key of the ledger has an index on its own side', async () => {
  const { rows } = await harness.db.query(
    `select conname from pg_constraint c join pg_attribute a on a.attrelid = conrelid and a.attnum = conkey[1]
      where contype = 'f' and connamespace = 'backfill'::regnamespace and not exists (
            select from pg_index i where i.indrelid = c.conrelid and i.indisvalid and i.indkey[0] = a.attnum
               and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname)))`,
  );
  expect(rows).toEqual([]);
});

/** A run that fails, all that can be asked of it, its retries, and the end of what is old. */
async function doEverything(): Promise<void> {
  const { client, db, temporal } = harness;
  await db.query(`insert into src values ('2024-03-08', 1, 9)`);
  const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10', requestedBy: 'ada' } as const;
  const { planId } = await client.plan(request);
  const run = await client.start({ plan: planId });
  await expect(run.result()).rejects.toMatchObject({ name: 'PartitionFailed', key: '2024-03-08' });
  await client.readPlan(planId);
  await client.readRun(planId);
  expect((await client.readFailures(planId)).failures).toHaveLength(1);
  const other = await run.retry({ replan: true });
  await expect(other.result()).rejects.toMatchObject({ name: 'PartitionFailed' });
  await db.query(`delete from src where amount = 9`);
  const { planId: third } = await (await client.start({ ...request, select: 'failed' })).result();
  // As a terminated run leaves it: whoever wants the range takes it away.
  await db.query(`update backfill.run set state = 'open', closed_at = null where plan_id = $1`, [third]);
  const { planId: last } = await (await client.start(request)).result();
  await (await client.undo(last, { to: '2024-03-01' })).result();
  await db.query(`update backfill.kept set keep_for = '0' where plan_id = $1`, [last]);
  const sweep = { taskQueue: 'backfill', workflowId: 'sweep' };
  expect(await temporal.workflow.execute('sweep', sweep)).toMatchObject({ dropped: [{ planId: last }] });
  await client.readTables();
  await client.readPartitions('fact');
  await client.readHistory('fact', { key: '2024-03-08' });
  const page = await client.readHistory('fact');
  expect(page.entries).toHaveLength(500);
  await client.readHistory('fact', page.next === null ? {} : { before: page.next });
  await client.doctor({ table: 'fact' });
  expect((await client.prune({ olderThan: '1 day', dryRun: true })).counts.runs).toBeGreaterThan(1000);
  expect((await client.prune({ olderThan: '1 day' })).counts.plans).toBeGreaterThan(1000);
}

/** What one run has replaced: rows of the table, which grow with no other run. */
function isCopy({ relation }: Explained['scans'][number]): boolean {
  return /^kept_[0-9a-f]{32}$/.test(relation);
}

/** How each statement to the ledger begins in our source, as far as it is fixed. */
function statementsInSource(): string[] {
  const folder = join(import.meta.dirname, '../../src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const sources = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  return sources.flatMap((source) =>
    [...source.matchAll(/query(?:<[^(]*>)?\(\s*`([^`]*)`/g)].flatMap(([, text = '']) =>
      /\$\{(?:tx\.)?ledger\}/.test(text)
        ? [text.split(/\$\{(?!(?:tx\.)?ledger\})/)[0]?.replaceAll(/\$\{(?:tx\.)?ledger\}/g, '"backfill"') ?? '']
        : [],
    ),
  );
}
