/** A table's schema and name as PostgreSQL stores them (unquoted parts are folded to lower case). */
export interface TableName {
  readonly schema: string;
  readonly name: string;
}

/** PostgreSQL cuts longer names silently (NAMEDATALEN - 1), so that two of them may come out the same. In bytes. */
export const MAX_IDENTIFIER_BYTES = 63;

const PART = /"(?:[^"\0]|"")+"|[\p{L}_][\p{L}\p{N}_$]*/u;
const NAME = new RegExp(`^(?:(${PART.source})\\.)?(${PART.source})$`, 'u');

/**
 * Reads `schema.table` or `table` (schema `public`), each part quoted or not, as PostgreSQL would.
 * Undefined where the text is no such name.
 */
export function parseTableName(text: string): TableName | undefined {
  const [, schema, name] = NAME.exec(text) ?? [];
  if (name === undefined) return undefined;
  const parsed = { schema: schema === undefined ? 'public' : unquote(schema), name: unquote(name) };
  return fits(parsed.schema) && fits(parsed.name) ? parsed : undefined;
}

/** One spelling for one table: quoted only where it must be. */
export function printTableName({ schema, name }: TableName): string {
  return `${printPart(schema)}.${printPart(name)}`;
}

/** `"schema"."table"`, always quoted, for use in SQL text. */
export function quoteTableName({ schema, name }: TableName): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function unquote(part: string): string {
  // Only ASCII is folded: what PostgreSQL does to other letters depends on the database's encoding.
  return part.startsWith('"')
    ? part.slice(1, -1).replaceAll('""', '"')
    : part.replace(/[A-Z]/g, (c) => c.toLowerCase());
}

function printPart(part: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(part) ? part : quoteIdentifier(part);
}

function fits(part: string): boolean {
  return new TextEncoder().encode(part).length <= MAX_IDENTIFIER_BYTES;
}
