/** What `doctor` looks at: one table, or all; and a range of it. */
export interface DoctorTarget {
  readonly table?: string;
  readonly from?: string;
  readonly to?: string;
}

/** What one check of `doctor` found. `check` is a fixed name, by which a script may tell findings apart. */
export type Finding =
  | { readonly check: string; readonly level: 'ok'; readonly found: string }
  | {
      readonly check: string;
      /** `problem`: something will not work; `warning`: something may not, or not as well as it could. */
      readonly level: 'warning' | 'problem';
      readonly found: string;
      /** One sentence. */
      readonly remedy: string;
      /** Statements to run in the database, as somebody who may. */
      readonly sql: readonly string[];
    };

export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found };
}

export function warning(check: string, found: string, remedy: string, sql: readonly string[] = []): Finding {
  return { check, level: 'warning', found, remedy, sql };
}

export function problem(check: string, found: string, remedy: string, sql: readonly string[] = []): Finding {
  return { check, level: 'problem', found, remedy, sql };
}
