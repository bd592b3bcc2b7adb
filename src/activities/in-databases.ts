import { Context } from '@temporalio/activity';
import type { Definition } from '../domain/definition.js';
import { inSource } from '../postgres/row-sources/from-database.js';
import type { Asked } from '../postgres/try-build.js';
import { type Dependencies, inLedger } from './dependencies.js';

/** Read-only transactions where the table is and where its build runs; names are looked up as a build looks them up. */
export function inDatabases<T>(
  deps: Dependencies,
  definition: Definition,
  work: (asked: Asked) => Promise<T>,
): Promise<T> {
  const { searchPath, origin } = definition;
  const options = { searchPath, readOnly: true, runsUserSql: true };
  if (origin.kind === 'code' || origin.source === null) {
    return inLedger(deps, (tx) => work({ tx, source: tx }), options);
  }
  const { cancellationSignal: signal } = Context.current();
  const bringing = { definition, sources: deps.sources, applicationName: 'backfill ledger', signal };
  return inSource(bringing, origin.source, (source) => inLedger(deps, (tx) => work({ tx, source }), options));
}
