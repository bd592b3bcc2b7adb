import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createJiti } from 'jiti';
import type { Definition } from '../domain/definition.js';
import { parseTableName, printTableName } from '../domain/table-name.js';
import { compileTable } from './compile.js';
import type { ConfigInput, TableInput } from './define.js';
import { ConfigError } from './errors.js';
import { configSchema } from './schema.js';
import { printIssues } from './zod-message.js';

export interface Config {
  /** Undefined: the file names none. Never printed: it holds a password. */
  readonly databaseUrl: string | undefined;
  readonly ledgerSchema: string | undefined;
  readonly poolSize: number | undefined;
  /** URLs of the other databases that definitions name; undefined where the file names none. Never printed. */
  readonly sources: ReadonlyMap<string, string | undefined>;
  readonly definitions: readonly Definition[];
}

export const DEFAULT_CONFIG_FILE = 'backfill.config.ts';

/**
 * Reads the definitions from a TypeScript or JavaScript file whose default export was made with `defineConfig`.
 * @throws {ConfigError} no such file, or what is wrong in it
 */
export async function loadConfig(path: string): Promise<Config> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new ConfigError(
      `There is no config file ${file}; write one with defineConfig, or name it in BACKFILL_CONFIG`,
    );
  }
  // No cache on disk: it would be written beside the user's packages, and saves 0.2 s once a start.
  const jiti = createJiti(import.meta.url, { fsCache: false });
  try {
    return parseConfig(await jiti.import(file, { default: true }));
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(`${path}: ${error.message}`, { cause: error });
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    // The place in the file, and nothing else: the error of a malformed URL has a field with the whole of it.
    const cause = Object.assign(new Error(message), { stack });
    throw new ConfigError(`${path} cannot be loaded: ${message}`, { cause });
  }
}

/** @throws {ConfigError} */
export function parseConfig(input: unknown): Config {
  const parsed = configSchema.safeParse(input);
  if (!parsed.success) throw new ConfigError(printIssues(parsed.error, input, 'config'));
  const config = parsed.data as ConfigInput;
  const definitions = config.tables.map((table: TableInput, i) => compileTable(table, `tables[${i}]`));
  const seen = new Set<string>();
  for (const { name } of definitions) {
    if (seen.has(name)) throw new ConfigError(`Two definitions are of ${name}; a table has one`);
    seen.add(name);
  }
  const { database, worker } = config;
  const sources = usedSources(config, definitions);
  return {
    databaseUrl: database?.url,
    ledgerSchema: database?.ledgerSchema,
    poolSize: worker?.poolSize,
    sources,
    definitions,
  };
}

/** @throws {ConfigError} a definition names one that is not there */
function usedSources({ sources = {} }: ConfigInput, definitions: readonly Definition[]): Config['sources'] {
  const used = new Map<string, string | undefined>();
  definitions.forEach(({ origin }, i) => {
    if (origin.kind === 'code' || origin.source === null) return;
    const source = Object.hasOwn(sources, origin.source) ? sources[origin.source] : undefined;
    if (source) return void used.set(origin.source, source.url);
    const known = Object.keys(sources).join(', ') || 'none';
    throw new ConfigError(`tables[${i}].source is ${JSON.stringify(origin.source)}; config.sources has: ${known}`);
  });
  return used;
}

/** The definition of a table by any spelling of its name. */
export function findDefinition(definitions: readonly Definition[], table: string): Definition | undefined {
  const name = parseTableName(table);
  return name && definitions.find((definition) => definition.name === printTableName(name));
}
