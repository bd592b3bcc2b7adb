import { BackfillError, type FailureInfo, FailureType } from '../domain/failure.js';
import { sqlStateOf } from './server-error.js';
import { CommitUnknown } from './transaction.js';

/**
 * SQLSTATE classes of trouble that passes: connection (08), transaction rollback (40), resources (53), lock not
 * available (55P03), operator intervention and timeouts (57), system errors (58). Everything else stays wrong however
 * often it is tried. Source: PostgreSQL manual, appendix A.
 */
const TRANSIENT = /^(?:08|40|53|57|58|55P03|55006|25P0[34])/;

/** What the driver says, without a SQLSTATE, when there is no connection. */
const NETWORK = /^(?:ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)/;

interface DatabaseErrorFields {
  readonly code?: unknown;
  readonly detail?: unknown;
  readonly where?: unknown;
}

/** The vocabulary's word for anything that a database call throws. Errors with a word already keep it. */
export function toBackfillError(error: unknown): BackfillError {
  if (error instanceof BackfillError) return error;
  if (error instanceof CommitUnknown)
    return new BackfillError({ type: FailureType.Transient, message: error.message }, { cause: error });
  const { code, detail } = (error ?? {}) as DatabaseErrorFields;
  const message = error instanceof Error ? error.message : String(error);
  const sqlstate = sqlStateOf(error);
  if (sqlstate !== undefined) return new BackfillError(fromSqlState(sqlstate, message, detail), { cause: error });
  const lost = (typeof code === 'string' && NETWORK.test(code)) || /connection|timeout exceeded/i.test(message);
  return lost ? unreachable(error) : new BackfillError({ type: FailureType.SqlFailed, message }, { cause: error });
}

/** Worth another attempt. */
export function isTransient(error: BackfillError): boolean {
  return error.info.type === FailureType.Transient;
}

function fromSqlState(sqlstate: string, message: string, detail: unknown): FailureInfo {
  return {
    type: TRANSIENT.test(sqlstate) ? FailureType.Transient : FailureType.SqlFailed,
    message: `${message} (SQLSTATE ${sqlstate})`,
    sqlstate,
    // A detail may quote a whole row.
    ...(typeof detail === 'string' ? { detail: detail.slice(0, 500) } : {}),
  };
}

/** The driver's own text may hold host names, and an AggregateError has none at all. */
function unreachable(error: unknown): BackfillError {
  const code = (error as DatabaseErrorFields | null)?.code;
  const message = `PostgreSQL cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`;
  return new BackfillError({ type: FailureType.Transient, message }, { cause: error });
}
