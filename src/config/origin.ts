import type { CodeOrigin, Origin } from '../domain/origin.js';
import type { TableInput } from './define.js';
import { ConfigError } from './errors.js';
import type { RowSchema } from './row-schema.js';
import { BOUNDS, template } from './template.js';

/** @param where the place in the config file, for messages: `tables[0]` */
export function compileOrigin(input: TableInput, where: string): Origin {
  const { build, rows, source, version, columns, row } = input;
  if ((build === undefined) === (rows === undefined)) {
    throw new ConfigError(`${where} must have either build (SQL) or rows (code), and not both`);
  }
  if (build !== undefined) {
    const stray = Object.entries({ version, columns, row }).find(([, value]) => value !== undefined)?.[0];
    if (stray !== undefined) throw new ConfigError(`${where}.${stray} is for tables with rows from code`);
    return { kind: 'sql', build: template(build(BOUNDS), `${where}.build`), source: source ?? null, restores: null };
  }
  if (source !== undefined) throw new ConfigError(`${where}.source is for tables with a build in SQL`);
  if (version === undefined || rows === undefined) {
    throw new ConfigError(`${where}.version is missing: without it nobody sees that the code of rows has changed`);
  }
  return { kind: 'code', rows, version, columns: columns ?? fieldsOf(row), parse: parserOf(row) };
}

/** Those of an object schema of zod. */
function fieldsOf(schema: RowSchema | undefined): CodeOrigin['columns'] {
  const { shape } = (schema ?? {}) as { readonly shape?: unknown };
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : null;
}

function parserOf(schema: RowSchema | undefined): CodeOrigin['parse'] {
  if (!schema) return (row) => row;
  return (row) => {
    const result = schema['~standard'].validate(row);
    if (result instanceof Promise) throw new TypeError('The schema of a row must not be asynchronous');
    if (result.issues === undefined) return result.value;
    const [first] = result.issues;
    const path = (first?.path ?? []).map((part) => String((part as { key?: unknown } | null)?.key ?? part));
    throw new TypeError(
      `${path.length > 0 ? `${path.join('.')}: ` : ''}${first?.message ?? 'is not as its schema says'}`,
    );
  };
}
