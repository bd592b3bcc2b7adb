import type { z } from 'zod';

/** Each issue as `path is value: what is expected`, one a line. Values are cut short; nothing of `database` is shown. */
export function printIssues(error: z.ZodError, input: unknown, root: string): string {
  return error.issues
    .map((issue) => `${root}${printPath(issue.path)}${shown(input, issue.path)}: ${issue.message}`)
    .join('\n');
}

function printPath(path: readonly PropertyKey[]): string {
  return path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
}

function shown(input: unknown, path: readonly PropertyKey[]): string {
  if (path[0] === 'database') return '';
  const value = path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | null)?.[part], input);
  if (typeof value === 'function') return '';
  const text = JSON.stringify(value) ?? 'missing';
  return ` is ${text.length > 80 ? `${text.slice(0, 77)}…` : text}`;
}
