import { type Finding, ok, problem, warning } from '../../domain/finding.js';
import { printBytes } from '../../domain/size.js';
import type { Tx } from '../database.js';
import { readOverdue } from '../ledger/kept.js';
import { demandLedger } from '../migrate.js';

/** What the worker does to the ledger's tables. */
const RIGHTS = ['select', 'insert', 'update', 'delete'] as const;

/** Whether the ledger is there, of this version, and may be read and written. */
export async function examineLedger(tx: Tx): Promise<Finding[]> {
  const rights = await readRights(tx);
  if (rights && (!rights.mayUse || rights.missing.some((right) => right !== 'delete'))) {
    const remedy = 'Run this as the owner of the ledger.';
    return [problem('ledger rights', 'The worker may not use the ledger', remedy, grantsFor(tx, rights))];
  }
  try {
    await demandLedger(tx);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const remedy = 'Run "backfill migrate" as the owner of the database.';
    return [problem('ledger version', error.message.split(';')[0] ?? '', remedy)];
  }
  return [ok('ledger version', `Schema ${tx.ledger} is up to date`), aboutRights(tx, rights), await aboutKept(tx)];
}

/** Deleting is for `prune` alone. */
function aboutRights(tx: Tx, rights: Rights | undefined): Finding {
  if (!rights || rights.missing.length === 0) return ok('ledger rights', 'It may be read, written and pruned');
  const remedy = 'To let "backfill prune" work, run this as the owner of the ledger.';
  return warning('ledger rights', 'It may be read and written, and not pruned', remedy, grantsFor(tx, rights));
}

interface Rights {
  readonly role: string;
  readonly mayUse: boolean;
  readonly missing: readonly string[];
}

/** Undefined where there is no ledger at all: that is for the version to say. */
async function readRights(tx: Tx): Promise<Rights | undefined> {
  const { rows } = await tx.query<Rights>(
    `select pg_catalog.quote_ident(current_user) as role, pg_catalog.has_schema_privilege(n.oid, 'usage') as "mayUse",
            array(select w.privilege from pg_catalog.unnest($2::pg_catalog.text[]) with ordinality w (privilege, place)
                   where exists (select from pg_catalog.pg_class c
                                  where c.relnamespace = n.oid and c.relkind = 'r' and c.relname <> 'migration' and c.relname !~ '^kept_[0-9a-f]{32}$'
                                    and not pg_catalog.has_table_privilege(c.oid, w.privilege))
                   order by w.place) as missing
       from pg_catalog.pg_namespace n where n.nspname = $1`,
    [unquoted(tx.ledger), [...RIGHTS]],
  );
  return rows[0];
}

function grantsFor({ ledger }: Tx, { role, mayUse, missing }: Rights): string[] {
  return [
    ...(mayUse ? [] : [`grant usage on schema ${ledger} to ${role};`]),
    ...(missing.length === 0 ? [] : [`grant ${missing.join(', ')} on all tables in schema ${ledger} to ${role};`]),
  ];
}

function unquoted(identifier: string): string {
  return identifier.slice(1, -1).replaceAll('""', '"');
}

/** Copies that are told apart: more are counted as they are. */
const MOST_OVERDUE = 1_000;

/** Sweeps have a day until the next one, and somebody may be reading a copy meanwhile. */
const GRACE_MS = 2 * 86_400_000;

async function aboutKept(tx: Tx): Promise<Finding> {
  const overdue = await readOverdue(tx, MOST_OVERDUE);
  const [oldest] = overdue;
  if (!oldest || Date.now() - Date.parse(oldest.since) < GRACE_MS) {
    return ok('replaced rows', 'No copy of replaced rows is there for longer than it should be');
  }
  const bytes = printBytes(overdue.reduce((sum, copy) => sum + copy.bytes, 0));
  const found = `${overdue.length} copies of replaced rows (${bytes}) are there although their time is over, the oldest since ${new Date(oldest.since).toISOString()}`;
  const remedy =
    'Look at the schedule backfill-sweep in Temporal, or run: temporal workflow start --type sweep --task-queue backfill.';
  return warning('replaced rows', found, remedy);
}
