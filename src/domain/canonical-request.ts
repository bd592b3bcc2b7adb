import type { RunOptions } from './request.js';
import { parseTableName, printTableName } from './table-name.js';

/** What decides whether two requests are the same: not why they were made, nor by whom. */
export type RequestCore = { readonly table: string; readonly from: string; readonly to: string } & Partial<RunOptions>;

/**
 * One text for all spellings of a request: every default filled in, fields in alphabetical order, the table's name in
 * its canonical spelling. Two requests ask for the same when their texts are equal.
 */
export function canonicalRequest(request: RequestCore): string {
  return JSON.stringify({
    allowDefinitionChange: request.allowDefinitionChange ?? false,
    allowIncomplete: request.allowIncomplete ?? false,
    concurrency: request.concurrency ?? 1,
    exclude: [...new Set(request.exclude)].sort(),
    from: request.from,
    onFailure: request.onFailure ?? 'stop',
    publish: request.publish ?? 'in-order',
    select: request.select ?? 'all',
    table: canonicalTable(request.table),
    to: request.to,
  });
}

/** The same for an undo: of which run, and which of its partitions. */
export function canonicalUndo(undo: { readonly undo: string; readonly from: string; readonly to: string }): string {
  return JSON.stringify({ from: undo.from, to: undo.to, undo: undo.undo });
}

/** A text that is no table name stays as it is: the worker refuses it by that name. */
export function canonicalTable(text: string): string {
  const name = parseTableName(text);
  return name ? printTableName(name) : text;
}
