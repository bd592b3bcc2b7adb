import { describe, expect, it, test } from 'vitest';
import { configFile, databaseUrl, httpAddress, ledgerSchema, poolSize } from '../../src/config/environment.js';
import { ConfigError } from '../../src/config/errors.js';

const SECRET = 'S3cr3t-Pa55';
const url = (name: string) => `postgres://app:${SECRET}@db/${name}`;

describe('the database', () => {
  it('is the one of the config file, else of the environment, else the embedded one', () => {
    const env = { DATABASE_URL: url('env') };
    expect(databaseUrl(env, url('file'), url('embedded'))).toBe(url('file'));
    expect(databaseUrl(env, undefined, url('embedded'))).toBe(url('env'));
    expect(databaseUrl({}, undefined, url('embedded'))).toBe(url('embedded'));
    expect(databaseUrl({ DATABASE_URL: '' }, undefined, url('embedded'))).toBe(url('embedded'));
  });

  it('has to be named', () => {
    expect(() => databaseUrl({}, undefined, undefined)).toThrow(/No database is named: set DATABASE_URL/);
  });

  test.each([
    [{ DATABASE_URL: `postgres://app:${SECRET}@[db/x` }, undefined],
    [{ DATABASE_URL: url('env') }, `${SECRET}@nowhere`],
    [{ DATABASE_URL: `app:${SECRET}@db/x` }, undefined],
    [{ DATABASE_URL: `mysql://app:${SECRET}@db/x` }, undefined],
  ])('C23 is in no message where it is malformed (%#)', (env, inConfig) => {
    let thrown: unknown;
    try {
      databaseUrl(env, inConfig, undefined);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigError);
    expect(String(thrown)).toContain('The database URL is malformed');
    expect(String(thrown)).not.toContain(SECRET);
  });
});

test('the config file has a name by default, and where the environment has none', () => {
  expect(configFile({})).toBe('backfill.config.ts');
  expect(configFile({ BACKFILL_CONFIG: '' })).toBe('backfill.config.ts');
  expect(configFile({ BACKFILL_CONFIG: 'other.ts' })).toBe('other.ts');
});

describe('the size of the pool', () => {
  test.each<[string | undefined, number]>([
    [undefined, 10],
    ['', 10],
    ['1', 1],
    ['1000', 1000],
  ])('%j means %d', (text, size) => {
    expect(poolSize({ BACKFILL_POOL_SIZE: text })).toBe(size);
  });

  test.each(['0', '-1', '1.5', '1001', 'ten', '1e9', 'NaN'])('%j is refused by its value', (text) => {
    expect(() => poolSize({ BACKFILL_POOL_SIZE: text })).toThrow(`BACKFILL_POOL_SIZE is "${text}"; expected a whole`);
  });
});

test('the environment comes before the config file', () => {
  expect(poolSize({}, { poolSize: 3 })).toBe(3);
  expect(poolSize({ BACKFILL_POOL_SIZE: '4' }, { poolSize: 3 })).toBe(4);
  expect(ledgerSchema({}, { ledgerSchema: 'file' })).toBe('file');
  expect(ledgerSchema({ BACKFILL_LEDGER_SCHEMA: 'env' }, { ledgerSchema: 'file' })).toBe('env');
  expect(ledgerSchema({})).toBeUndefined();
});

test.each(['pg_ledger', 'x'.repeat(64), 'ü'.repeat(32)])('%s is no name for the ledger’s schema', (name) => {
  expect(() => ledgerSchema({ BACKFILL_LEDGER_SCHEMA: name })).toThrow(`BACKFILL_LEDGER_SCHEMA is "${name}"`);
});

describe('where health and metrics are served', () => {
  test.each([
    ['9090', '127.0.0.1', 9090],
    ['0.0.0.0:1', '0.0.0.0', 1],
    ['localhost:65535', 'localhost', 65_535],
    ['[::1]:9090', '::1', 9090],
  ])('%s means %s and %d', (text, host, port) => {
    expect(httpAddress({ BACKFILL_HTTP: text })).toEqual({ host, port });
  });

  test.each(['0', '65536', 'port', 'host:', ':9090', '::1:9090', 'http://x:1', '9090 '])('%j is refused', (text) => {
    expect(() => httpAddress({ BACKFILL_HTTP: text })).toThrow(`BACKFILL_HTTP is ${JSON.stringify(text)}`);
  });

  test('nowhere where nothing is said', () => {
    expect(httpAddress({ BACKFILL_HTTP: '' })).toBeUndefined();
  });
});
