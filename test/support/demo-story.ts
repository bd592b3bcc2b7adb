/** What `npm start` has printed, taken apart. */

export const DAYS = Array.from({ length: 14 }, (_, i) => `2026-03-${String(i + 1).padStart(2, '0')}`);

/** Days of the plan that is shown, in its order. */
export function plannedDays(output: string): string[] {
  return [...output.matchAll(/^ {2}(\S+) {2}replace /gm)].map(([, day]) => day ?? '');
}

/** `3 of 14 done` gives 3. */
export function progressOf(output: string): number[] {
  return [...output.matchAll(/(\d+) of 14 done/g)].map(([, done]) => Number(done));
}

export interface Proof {
  /** Those with a ✓. */
  readonly proven: readonly string[];
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** How many days lie outside the range, unchanged. */
  readonly unchanged: string | undefined;
}

export function proofOf(output: string): Proof {
  const rows = [...output.matchAll(/^ {2}(2026-03-\d\d) +[\d,.]+ +([\d,.]+) +([\d,.]+) ✓$/gm)];
  const [, before, after] = /^ {2}total +([\d,.]+) +([\d,.]+)/m.exec(output) ?? [];
  const [, unchanged] = /^The (\d+) days outside the range: the same row versions as before\.$/m.exec(output) ?? [];
  return { proven: rows.map(([, day]) => day ?? ''), before, after, unchanged };
}

/** Of the run in the Web UI. */
export function linkOf(output: string): URL {
  return new URL(found(/^── The same run in the Temporal Web UI\n\n(\S+)$/m, output));
}

/** The line for a shell. */
export function shellLineOf(output: string): string {
  return found(/^── The same from the Temporal CLI\n\n(\S+ workflow start .+)$/m, output);
}

/** The module to copy. */
export function snippetOf(output: string): string {
  return found(/^── The same from client code\n\n([^]+?)\n\n/m, output);
}

function found(pattern: RegExp, output: string): string {
  const [, text] = pattern.exec(output) ?? [];
  if (text === undefined) throw new Error(`There is no ${pattern} in:\n${output}`);
  return text;
}
