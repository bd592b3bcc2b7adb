import type { Definition } from '../domain/definition.js';
import { BackfillError } from '../domain/failure.js';
import { sqlStateOf } from './server-error.js';
import { toBackfillError } from './sqlstate.js';

/** Broken constraints quote the row, or values of it. */
const CONSTRAINT = /^23/;
/** A unique or an exclusion constraint: what they quote is a key. */
const KEYS = new Set(['23505', '23P01']);

/** An error without the values of a row, but of its key, unless the definition allows them. */
export function hideValues(error: unknown, { name, showValues }: Definition): unknown {
  const sqlstate = sqlStateOf(error) ?? '';
  if (showValues || !CONSTRAINT.test(sqlstate) || KEYS.has(sqlstate)) return error;
  const { info } = toBackfillError(error);
  if (info.detail === undefined) return error;
  const detail = `Hidden; "showValues: true" in the definition of ${name} shows it`;
  return new BackfillError({ ...info, detail }, { cause: error });
}
