import { MAX_IDENTIFIER_BYTES } from '../domain/table-name.js';
import { type Config, DEFAULT_CONFIG_FILE } from './load.js';
import { ConfigError } from './errors.js';

/** Set to nothing counts as not set, as in a compose file. */
function read(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] || undefined;
}

/** The file with the definitions. */
export function configFile(env: NodeJS.ProcessEnv): string {
  return read(env, 'BACKFILL_CONFIG') ?? DEFAULT_CONFIG_FILE;
}

/** Those that the driver knows. */
const SCHEMES = new Set(['postgres:', 'postgresql:', 'socket:']);

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
  return demandUrl(url, 'The database URL');
}

/**
 * The URL of a source.
 * @throws {ConfigError} it has none, or it is no URL
 */
export function sourceUrl(name: string, url: string | undefined): string {
  if (url) return demandUrl(url, `The URL of the source ${name}`);
  throw new ConfigError(`The source ${name} has no URL: set config.sources[${JSON.stringify(name)}].url`);
}

function demandUrl(url: string, what: string): string {
  // The parser's own error carries the whole URL. The driver takes "user:password@host/name" for a server on this machine.
  if (URL.canParse(url) && SCHEMES.has(new URL(url).protocol)) return url;
  throw new ConfigError(`${what} is malformed; it must look like postgres://user:password@host:5432/name`);
}

/** Connections of a worker, and so the partitions that it writes at once. */
export function poolSize(env: NodeJS.ProcessEnv, config?: Pick<Config, 'poolSize'>): number {
  const text = read(env, 'BACKFILL_POOL_SIZE');
  const size = text === undefined ? (config?.poolSize ?? 10) : Number(text);
  if (Number.isInteger(size) && size >= 1 && size <= 1000) return size;
  throw new ConfigError(`BACKFILL_POOL_SIZE is ${JSON.stringify(text)}; expected a whole number from 1 to 1000`);
}

/** The schema of the ledger, as PostgreSQL stores its name; undefined for the usual one. */
export function ledgerSchema(env: NodeJS.ProcessEnv, config?: Pick<Config, 'ledgerSchema'>): string | undefined {
  const name = read(env, 'BACKFILL_LEDGER_SCHEMA');
  if (name === undefined) return config?.ledgerSchema;
  if (Buffer.byteLength(name) <= MAX_IDENTIFIER_BYTES && !name.startsWith('pg_')) return name;
  throw new ConfigError(
    `BACKFILL_LEDGER_SCHEMA is ${JSON.stringify(name)}; a schema's name has at most ${MAX_IDENTIFIER_BYTES} bytes and does not begin with pg_`,
  );
}

export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

/** Where health and metrics are served: `host:port`, or a port of 127.0.0.1; undefined for nowhere. */
export function httpAddress(env: NodeJS.ProcessEnv): HttpAddress | undefined {
  const text = read(env, 'BACKFILL_HTTP');
  if (text === undefined) return undefined;
  const [, host = '127.0.0.1', digits] = /^(?:([^:\s]+|\[[0-9a-fA-F:.]+\]):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (port >= 1 && port <= 65_535) return { host: host.replace(/^\[|\]$/g, ''), port };
  throw new ConfigError(
    `BACKFILL_HTTP is ${JSON.stringify(text)}; expected a port, or an address such as 0.0.0.0:9090`,
  );
}
