import { BackfillError } from '../domain/failure.js';
import type { Database } from '../postgres/database.js';
import { examineLedger } from '../postgres/doctor/ledger.js';
import { demandLedger } from '../postgres/migrate.js';
import { toBackfillError } from '../postgres/sqlstate.js';
import { inTransaction } from '../postgres/transaction.js';

const options = { applicationName: 'backfill worker', timeouts: { attemptMs: 10_000, lockMs: 5_000 } };

/** Of PostgreSQL. */
const NOT_PERMITTED = '42501';

/**
 * Before a worker takes work: the ledger is there and is of this version.
 * @throws {BackfillError} why not. Of missing rights with the statements that give them, as nobody can ask `backfill
 * doctor` before a worker runs
 */
export async function demandUsableLedger(database: Database): Promise<void> {
  try {
    await inTransaction(database, options, demandLedger);
  } catch (error) {
    const known = toBackfillError(error);
    throw known.info.sqlstate === NOT_PERMITTED ? await withGrants(database, known) : known;
  }
}

async function withGrants(database: Database, { info }: BackfillError): Promise<BackfillError> {
  const findings = await inTransaction(database, { ...options, readOnly: true }, examineLedger);
  const sql = findings.flatMap((finding) => (finding.level === 'ok' ? [] : finding.sql));
  return new BackfillError({ ...info, message: `${info.message}; run as the owner of the ledger: ${sql.join(' ')}` });
}
