import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { BackfillError, FailureType } from '../../domain/failure.js';
import type { CodeOrigin } from '../../domain/origin.js';
import type { Tx } from '../database.js';
import { STAGED } from '../staged.js';
import { type Target, boundValues, quoteColumns } from '../target.js';
import { copyLine } from '../text-form.js';
import type { Bringing } from './bringing.js';
import { type ColumnKind, fieldText } from './field-text.js';

/** Bytes, about, that are sent at once: a row at a time takes six times as long. */
const CHUNK = 64 * 1024;

/** Milliseconds, about, for which code may keep the worker to itself. */
const TURN_MS = 20;

/** Rows of a generator, asked for as fast as the table takes them, and ended when the replacement is. */
export async function fillFromCode(
  tx: Tx,
  target: Target,
  { origin, signal }: Bringing & { readonly origin: CodeOrigin },
): Promise<number> {
  const kinds = await readKinds(tx, target);
  const into = tx.copyIn(`copy ${STAGED} (${quoteColumns(target.columns)}) from stdin`);
  const lines = chunks(linesOf(target, origin, kinds, signal ?? new AbortController().signal));
  await pipeline(Readable.from(lines, { objectMode: false, highWaterMark: CHUNK }), into, {
    ...(signal && { signal }),
  });
  return into.rowCount;
}

/** What the types of the columns ask of a value. */
async function readKinds(tx: Tx, { columns }: Target): Promise<ColumnKind[]> {
  const { rows } = await tx.query<{ name: string; type: string }>(
    `select a.attname as name, (
         with recursive base (oid, kind) as (
           select t.oid, t.typtype from pg_catalog.pg_type t where t.oid operator(pg_catalog.=) a.atttypid
           union all
           select t.oid, t.typtype
             from base b join pg_catalog.pg_type d on d.oid operator(pg_catalog.=) b.oid
             join pg_catalog.pg_type t on t.oid operator(pg_catalog.=) d.typbasetype
            where b.kind operator(pg_catalog.=) 'd')
         select oid::pg_catalog.regtype::pg_catalog.text from base where kind operator(pg_catalog.<>) 'd') as type
       from pg_catalog.pg_attribute a
      where a.attrelid operator(pg_catalog.=) $1::pg_catalog.regclass and a.attnum operator(pg_catalog.>) 0`,
    [STAGED],
  );
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  return columns.map((name) => ({ name, type: types.get(name) ?? '' }));
}

async function* linesOf(
  target: Target,
  { rows, parse }: CodeOrigin,
  kinds: readonly ColumnKind[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const names = new Set(target.columns);
  let number = 0;
  try {
    for await (const row of rows(boundValues(target.partition, target.columnType), signal)) {
      number++;
      yield copyLine(fieldsOf(parse(row), kinds, names));
    }
  } catch (error) {
    signal.throwIfAborted();
    throw ofCode(error, `${target.partition.key}, row ${number}`);
  }
}

function fieldsOf(row: unknown, kinds: readonly ColumnKind[], names: ReadonlySet<string>): (string | null)[] {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) throw new TypeError('A row must be an object');
  const extra = Object.keys(row).find((name) => !names.has(name));
  if (extra !== undefined) throw new TypeError(`${extra} is no column that the rows have`);
  return kinds.map((kind) => fieldText((row as Readonly<Record<string, unknown>>)[kind.name], kind));
}

/**
 * Mistakes of the code stay mistakes however often it is run; anything else that it throws (a service that does not
 * answer) is worth another attempt. A failed `fetch` is a TypeError, too, but one with a cause.
 */
function ofCode(error: unknown, where: string): BackfillError {
  if (error instanceof BackfillError) return error;
  const isMistake =
    (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError) &&
    error.cause === undefined;
  const message = error instanceof Error ? error.message : String(error);
  const type = isMistake ? FailureType.CodeFailed : FailureType.Transient;
  return new BackfillError({ type, message: `${where}: ${message}` }, { cause: error });
}

/**
 * Between them the worker gets its turn: code that never waits for anything would let no heartbeat, no cancel and no other
 * partition through (measured: a cancel took 80 s).
 */
async function* chunks(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let text = '';
  let since = performance.now();
  for await (const line of lines) {
    text += line;
    if (text.length >= CHUNK) {
      yield Buffer.from(text);
      text = '';
    }
    if (performance.now() - since < TURN_MS) continue;
    await setImmediate();
    since = performance.now();
  }
  if (text !== '') yield Buffer.from(text);
}
