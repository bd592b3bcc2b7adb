/**
 * An object as JSON. JavaScript writes a Map as `{}`, NaN as null, and leaves functions out: such values are refused.
 * @param name of the column, for messages
 * @throws {TypeError} JSON has no form for it
 */
export function jsonText(value: object, name: string): string {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    const problem = problemOf(inner);
    if (problem === undefined) return inner;
    throw new TypeError(`${name}${key === '' ? '' : ` (${key})`} is ${problem}, for which JSON has no form`);
  }) as string | undefined;
  if (text === undefined) throw new TypeError(`${name} has a toJSON that gives nothing`);
  return text;
}

/** `undefined` is left out of objects, as everywhere in JavaScript. */
function problemOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
  if (typeof value === 'object') return isPlain(value) ? undefined : `a ${value?.constructor.name ?? 'strange object'}`;
  return ['bigint', 'function', 'symbol'].includes(typeof value) ? `a ${typeof value}` : undefined;
}

/** What has a `toJSON` was asked for it by now. An object of a class of the definition's own counts by its fields. */
function isPlain(value: object | null): boolean {
  if (value === null || Array.isArray(value)) return true;
  return Object.prototype.toString.call(value) === '[object Object]';
}
