/** What depends on a table, as a plan lists it. */
export const dependentKinds = ['view', 'materialized view', 'function', 'foreign key', 'table', 'report'] as const;
export type DependentKind = (typeof dependentKinds)[number];

/** Something that shows, holds or is built from the rows of the table. */
export interface Dependent {
  readonly kind: DependentKind;
  readonly name: string;
  /** Why it is listed: `reads mart.daily_revenue`. */
  readonly reason: string;
  /** Of a report, as declared; null where nothing is. */
  readonly owner: string | null;
  readonly url: string | null;
}

/** A report as a definition declares it. */
export interface Report {
  readonly name: string;
  readonly owner: string | null;
  readonly url: string | null;
}

export function dependent(kind: DependentKind, name: string, reason: string, report?: Report): Dependent {
  return { kind, name, reason, owner: report?.owner ?? null, url: report?.url ?? null };
}
