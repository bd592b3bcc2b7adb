import type { Fingerprint } from './fact.js';

/** The days of which a row version has changed, come or gone, sorted. */
export function changedDays(before: ReadonlyMap<string, Fingerprint>, after: ReadonlyMap<string, Fingerprint>) {
  const days = [...new Set([...before.keys(), ...after.keys()])].sort();
  return days.filter((day) => before.get(day)?.versions !== after.get(day)?.versions);
}
