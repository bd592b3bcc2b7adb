import type { Definition } from '../domain/definition.js';
import { BackfillError } from '../domain/failure.js';
import { sqlStateOf } from './server-error.js';
import { toBackfillError } from './sqlstate.js';

/** Broken constraints quote the row; data that cannot be read are quoted in part, but not numbers out of range (22003). */
const QUOTING = /^2[23](?!003)/;
/** A unique or an exclusion constraint: what they quote is a key. */
const KEYS = new Set(['23505', '23P01']);

/** An error without the values of a row, but of its key, unless the definition allows them. */
export function hideValues(error: unknown, { name, showValues }: Definition): unknown {
  const sqlstate = sqlStateOf(error) ?? '';
  if (showValues || !QUOTING.test(sqlstate) || KEYS.has(sqlstate)) return error;
  const { info } = toBackfillError(error);
  if (info.detail === undefined) return error;
  const detail = `Hidden; "showValues: true" in the definition of ${name} shows it`;
  return new BackfillError({ ...info, detail }, { cause: error });
}
