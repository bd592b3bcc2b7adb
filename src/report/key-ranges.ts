import { printRange } from '../domain/key-ranges.js';
import type { LeftAlone, Plan } from '../domain/plan.js';

/**
 * What is left alone, a line for each reason: `2026-03-05..2026-03-07, 2026-03-10`. Keys follow each other when no other
 * partition of the plan lies between them, so no calendar is needed here.
 */
export function leftAloneByReason(plan: Plan): Map<string, string[]> {
  const written = plan.partitions.map(({ key }) => key);
  // Behind the last partition that was read nothing is known of what lies between two keys.
  const isPart = written.length < plan.counts.create + plan.counts.replace;
  const lastKnown = isPart ? (written.at(-1) ?? '') : '\uffff';
  const next = followers([...written, ...plan.leftAlone.map(({ key }) => key)]);
  const runs = new Map<string, [from: string, to: string][]>();
  for (const { key, why } of [...plan.leftAlone].sort(byKey)) {
    const ofReason = runs.get(why) ?? [];
    const last = ofReason.at(-1);
    if (last && next.get(last[1]) === key && key <= lastKnown) last[1] = key;
    else ofReason.push([key, key]);
    runs.set(why, ofReason);
  }
  return new Map([...runs].map(([why, ranges]) => [why, ranges.map(printRange)]));
}

function followers(keys: readonly string[]): Map<string, string> {
  const sorted = [...keys].sort();
  return new Map(sorted.slice(1).map((key, i) => [sorted[i] ?? '', key]));
}

function byKey(a: LeftAlone, b: LeftAlone): number {
  return a.key < b.key ? -1 : 1;
}
