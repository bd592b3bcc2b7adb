import type { z } from 'zod';

type Path = readonly PropertyKey[];

/**
 * Each issue as `path is value: what is expected`, one a line. Values are cut short. Of a config only what lies in
 * `tables` is shown: everywhere else a URL with its password may stand, under a misspelt name too.
 */
export function printIssues(error: z.ZodError, input: unknown, root: 'config' | 'request'): string {
  const isShown = (path: Path) => root === 'request' || path[0] === 'tables';
  return error.issues
    .flatMap(findingsOf)
    .map(
      ({ path, text }) => `${root}${printPath(path)}${isShown(path) ? ` is ${printValue(input, path)}` : ''}: ${text}`,
    )
    .join('\n');
}

/** An issue about unknown fields has the path of the object that holds them. */
function findingsOf(issue: z.core.$ZodIssue): { readonly path: Path; readonly text: string }[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, text: issue.message }];
  return issue.keys.map((key) => ({ path: [...issue.path, key], text: 'Unknown field' }));
}

function printPath(path: Path): string {
  return path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
}

function printValue(input: unknown, path: Path): string {
  const value = path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | null)?.[part], input);
  const text = typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? 'missing');
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
