import { DEFAULT_CONFIG_FILE } from './load.js';
import { ConfigError } from './errors.js';

/** Set to nothing counts as not set, as in a compose file. */
function read(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] || undefined;
}

/** The file with the definitions. */
export function configFile(env: NodeJS.ProcessEnv): string {
  return read(env, 'BACKFILL_CONFIG') ?? DEFAULT_CONFIG_FILE;
}

/**
 * The database of the tables and the ledger: the config file's, else `DATABASE_URL`, else the embedded stack's.
 * @throws {ConfigError} none is named, or it is no URL. The URL is not part of the message: it holds a password.
 */
export function databaseUrl(
  env: NodeJS.ProcessEnv,
  inConfig: string | undefined,
  embedded: string | undefined,
): string {
  const url = inConfig ?? read(env, 'DATABASE_URL') ?? embedded;
  if (url === undefined) {
    throw new ConfigError(
      'No database is named: set DATABASE_URL, or database.url in the config file, or run "backfill dev"',
    );
  }
  // The parser's own error carries the whole URL.
  if (URL.canParse(url)) return url;
  throw new ConfigError('The database URL is malformed; it must look like postgres://user:password@host:5432/name');
}

/** Connections of a worker, and so the partitions that it writes at once. */
export function poolSize(env: NodeJS.ProcessEnv): number {
  const text = read(env, 'BACKFILL_POOL_SIZE');
  const size = Number(text ?? 10);
  if (Number.isInteger(size) && size >= 1 && size <= 1000) return size;
  throw new ConfigError(`BACKFILL_POOL_SIZE is ${JSON.stringify(text)}; expected a whole number from 1 to 1000`);
}
