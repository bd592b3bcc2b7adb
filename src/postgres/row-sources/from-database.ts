import { pipeline } from 'node:stream/promises';
import type { SqlTemplate } from '../../domain/sql-template.js';
import { toBackfillError } from '../sqlstate.js';
import { BackfillError } from '../../domain/failure.js';
import type { Tx } from '../database.js';
import { STAGED } from '../staged.js';
import { type Target, inlineFor, quoteColumns } from '../target.js';
import { inTransaction } from '../transaction.js';
import type { Bringing } from './bringing.js';

/**
 * A query in another PostgreSQL, streamed from one to the other as text: constant memory, every digit kept, and the source
 * is read no faster than the table takes it.
 */
export async function fillFromDatabase(
  tx: Tx,
  target: Target,
  bringing: Bringing & { readonly build: SqlTemplate; readonly source: string },
): Promise<number> {
  const { build, source, signal } = bringing;
  const columns = quoteColumns(target.columns);
  const query = `select ${quoteColumns(target.columns, 'b.')} from (${inlineFor(target, build)}\n) as b`;
  return inSource(bringing, source, async (from) => {
    await from.goOnAsUser();
    // The table's side first: a session that waits for rows is not idle, and is not ended for it.
    const into = tx.copyIn(`copy ${STAGED} (${columns}) from stdin`);
    await pipeline(from.copyOut(`copy (${query}) to stdout`), into, { ...(signal && { signal }) });
    return into.rowCount;
  });
}

/**
 * A read-only transaction in a source. What goes wrong there names the source.
 * @throws {BackfillError}
 */
export async function inSource<T>(
  { definition, sources, applicationName, signal }: Bringing,
  name: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const database = sources.get(name);
  if (!database) throw new Error(`This worker has no source ${name}`);
  const { timeouts, searchPath } = definition;
  const options = { applicationName, runsUserSql: true, readOnly: true, timeouts, searchPath, signal };
  try {
    return await inTransaction(database, options, work);
  } catch (error) {
    signal?.throwIfAborted();
    const { info } = toBackfillError(error);
    throw new BackfillError({ ...info, message: `Source ${name}: ${info.message}` }, { cause: error });
  }
}
