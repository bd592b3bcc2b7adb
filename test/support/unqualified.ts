/** What may stand before a bracket and is neither a function nor a type: grammar, which no schema can replace. */
const GRAMMAR = new Set(
  'all and any as by case coalesce cross distinct else end exists explain filter from having join lateral limit materialized not offset on or returning row rows select set then to union using values when where with'.split(
    ' ',
  ),
);

/**
 * Names in a statement that a schema before the system's could replace: operators, functions, types, and the grammar
 * that looks up an operator by itself. Empty where each is written out: `operator(pg_catalog.=)`, `pg_catalog.count(*)`.
 */
export function unqualifiedNames(statement: string): string[] {
  const text = statement
    .replaceAll(/'(?:[^']|'')*'/g, ' LITERAL ')
    .replaceAll(/"(?:[^"]|"")*"/g, 'QUOTED')
    .replaceAll(/operator\(pg_catalog\.[^)]+\)/gi, ' ')
    .replaceAll(/pg_catalog\.\w+/g, 'KNOWN')
    .replaceAll(/\$\d+/g, 'PARAMETER')
    .toLowerCase()
    // An assignment is grammar, and so is "all columns".
    .replaceAll(/((?:\bset|,)\s+\w+\s+)=/g, '$1')
    .replaceAll(/(\(|\bselect |\.|,\s*)\*/g, '$1');
  const calls = [...text.matchAll(/(?<![\w.])([a-z_]\w*)\s*\(/g)].map(([, name = '']) => name);
  const found = [
    ...calls.filter((name) => !GRAMMAR.has(name) && !['known', 'quoted'].includes(name) && !isRelation(text, name)),
    ...[...text.matchAll(/::\s*(?!known|quoted)\w+/g)].map(([cast]) => cast),
    ...[...text.replaceAll('::', ' ').matchAll(/[-+*/<>=~!@#%^&|`?]+/g)].map(([operator]) => operator),
    ...[...text.matchAll(/\b(?:in|like|ilike|between|nullif|overlaps|distinct from|case (?!when))\b/g)].map(
      ([word]) => word,
    ),
  ];
  return [...new Set(found)];
}

/** `with new_rows (…)`, `as k (key)`: what names a relation and its columns. */
function isRelation(text: string, name: string): boolean {
  return new RegExp(`\\b(?:as|into|with)\\s+${name}\\s*\\(`).test(text);
}
