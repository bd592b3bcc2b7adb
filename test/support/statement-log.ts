import pg from 'pg';
import { vi } from 'vitest';

const OWN = 'pg_catalog, pg_temp';
const SWITCH = /set_config\('search_path', '((?:[^']|'')*)', true\)/;

/** The statements that sessions of this process send while they find names by a path that is not the worker's own. */
export function logStatementsOfUserPath(): { readonly statements: readonly string[]; stop(): void } {
  const statements: string[] = [];
  const byUser = new WeakSet<object>();
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own client below
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function log(this: object, ...args: unknown[]) {
    const text = typeof args[0] === 'string' ? args[0] : '';
    const path = SWITCH.exec(text)?.[1];
    if (path !== undefined && path !== OWN) byUser.add(this);
    else if (path === OWN || /^(?:begin|commit|rollback)\b/.test(text)) byUser.delete(this);
    if (byUser.has(this)) statements.push(text.replace(SWITCH, 'null'));
    return query.apply(this, args);
  });
  return { statements, stop: () => spy.mockRestore() };
}
