import pg from 'pg';
import { vi } from 'vitest';

/** A statement that was sent to the ledger, and what PostgreSQL read for it. */
export interface Explained {
  readonly text: string;
  readonly scans: readonly Scan[];
}

interface Scan {
  readonly relation: string;
  readonly how: string;
  /** Rows that were looked at, the dropped ones included. */
  readonly rows: number;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly Schema?: string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Has each statement to the ledger explained in its own transaction, right before it is sent: with the values, settings and
 * rows that it meets. Of this process, from now on; the test's own statements do not quote the ledger's name.
 */
export function explainLedger(): Explained[] {
  const seen: Explained[] = [];
  type Send = (this: pg.Client, text: string, values?: unknown[]) => Promise<pg.QueryResult>;
  const { query: send } = pg.Client.prototype as unknown as { readonly query: Send };
  const explain = async (client: pg.Client, text: string, values: unknown[]) => {
    await send.call(client, 'savepoint explaining');
    try {
      const { rows } = await send.call(client, `explain (analyze, verbose, timing off, format json) ${text}`, values);
      const [{ Plan }] = (rows[0] as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'];
      seen.push({ text, scans: scansOf(Plan) });
    } catch {
      // The statement itself will say so.
    }
    await send.call(client, 'rollback to savepoint explaining; release savepoint explaining');
  };
  const explainAndSend = async (client: pg.Client, text: string, values: unknown[] = []) => {
    await explain(client, text, values);
    return send.call(client, text, values);
  };
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [text, values] = args as [string, unknown[]?];
    if (isOfLedger(text)) return explainAndSend(this, text, values);
    return (send as (...all: unknown[]) => Promise<pg.QueryResult>).apply(this, args);
  } as never);
  return seen;
}

function isOfLedger(text: unknown): boolean {
  return (
    typeof text === 'string' && /^\s*(?:select|with|insert|update|delete)\b/.test(text) && text.includes('"backfill".')
  );
}

function scansOf(node: PlanNode): Scan[] {
  const { Schema: schema, 'Relation Name': relation, 'Node Type': how, 'Actual Loops': loops } = node;
  const dropped = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own =
    schema === 'backfill' && relation !== undefined && how.endsWith('Scan')
      ? [{ relation, how, rows: Math.round((node['Actual Rows'] + dropped) * loops) }]
      : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
}
