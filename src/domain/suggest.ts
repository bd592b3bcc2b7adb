/** More wrong letters than these, and it is another word. */
const MOST_CHANGES = 3;

/**
 * What was most likely meant by a mistyped name; undefined where nothing is near. A table whose schema alone differs, or
 * was left out, is near.
 */
export function closest(given: string, known: readonly string[]): string | undefined {
  const near = known
    .map((name) => ({ name, changes: changesBetween(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ changes }) => changes <= MOST_CHANGES)
    .sort((a, b) => a.changes - b.changes || (a.name < b.name ? -1 : 1));
  return near[0]?.name;
}

/** Of the whole names or, at half a change more, of their last parts alone. */
function changesBetween(a: string, b: string): number {
  return Math.min(changesWithin(a, b), changesWithin(lastPart(a), lastPart(b)) + 0.5);
}

/** More than a third of the letters changed is another word, however short. */
function changesWithin(a: string, b: string): number {
  const changes = editDistance([...a], [...b]);
  return changes * 3 <= b.length ? changes : Infinity;
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Letters to add, remove, change, or swap with their neighbour. */
function editDistance(a: readonly string[], b: readonly string[]): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(before, j - 2) + 1 : Infinity;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, changed, swapped));
    }
    [before, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[], i: number): number {
  return row[i] ?? Infinity;
}
