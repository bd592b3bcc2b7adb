import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it, test } from 'vitest';
import { notNull, rowCount } from '../../src/config/checks.js';
import { type ConfigInput, sql } from '../../src/config/define.js';
import { ConfigError } from '../../src/config/errors.js';
import { findDefinition, loadConfig, parseConfig } from '../../src/config/load.js';

const SECRET = 'S3cr3t-Pa55';
const table: ConfigInput['tables'][number] = {
  name: 'fact',
  partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
  build: ({ startDate }) => sql`select ${startDate} as day`,
};

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('It was accepted');
}
const refused = (changes: object) => messageOf(() => parseConfig({ tables: [{ ...table, ...changes }] }));

describe('a config', () => {
  it('gives definitions and the URL', () => {
    const url = `postgres://app:${SECRET}@db/x`;
    const { databaseUrl, definitions } = parseConfig({ database: { url }, tables: [table, { ...table, name: 'b.c' }] });
    expect(databaseUrl).toBe(url);
    expect(definitions.map(({ name }) => name)).toEqual(['public.fact', 'b.c']);
    expect(parseConfig({ tables: [] })).toMatchObject({ databaseUrl: undefined, definitions: [], sources: new Map() });
    expect(parseConfig({ database: { url: undefined }, tables: [] }).databaseUrl).toBeUndefined();
  });

  it('finds a definition by any spelling of its name', () => {
    const { definitions } = parseConfig({ tables: [table, { ...table, name: '"Sales Ops"."Order"' }] });
    for (const name of ['fact', 'FACT', 'public.fact', '"public"."fact"']) {
      expect(findDefinition(definitions, name)?.name).toBe('public.fact');
    }
    expect(findDefinition(definitions, '"Sales Ops"."Order"')?.name).toBe('"Sales Ops"."Order"');
    for (const name of ['"FACT"', 'other', 'fact; drop table src', '']) {
      expect(findDefinition(definitions, name)).toBeUndefined();
    }
  });
});

describe('what is wrong is said with its path and its value', () => {
  test.each<[string, object, string | RegExp]>([
    ['a misspelt field', { whenEmtpy: 'empty' }, /^config\.tables\[0\]\.whenEmtpy is "empty": .*unknown field/i],
    [
      'a misspelt field within',
      { partitionBy: { ...table.partitionBy, zone: 'UTC' } },
      'config.tables[0].partitionBy.zone is "UTC": ',
    ],
    [
      'C20 a zone that attacks',
      { partitionBy: { ...table.partitionBy, timeZone: "UTC'; drop table src; --" } },
      `config.tables[0].partitionBy.timeZone is "UTC'; drop table src; --": expected an IANA time zone`,
    ],
    [
      'an unknown grain',
      { partitionBy: { ...table.partitionBy, grain: 'eon' } },
      /config\.tables\[0\]\.partitionBy\.grain is "eon": .*"day"/,
    ],
    [
      'hours that do not divide a day',
      { partitionBy: { ...table.partitionBy, grain: 'hour', every: 5 } },
      'config.tables[0].partitionBy.every is 5: hours are counted anew each day: expected 1, 2, 3, 4, 6, 8 or 12',
    ],
    [
      'an anchor of single days',
      { partitionBy: { ...table.partitionBy, anchor: '2026-03-01' } },
      'config.tables[0].partitionBy.anchor is "2026-03-01": it says from which date several',
    ],
    [
      'an anchor that is no date',
      { partitionBy: { ...table.partitionBy, every: 7, anchor: '2026-02-30' } },
      'config.tables[0].partitionBy.anchor is "2026-02-30": expected a date as YYYY-MM-DD',
    ],
    [
      'numbers that mean something else',
      { partitionBy: { ...table.partitionBy, as: 'julian' } },
      /config\.tables\[0\]\.partitionBy\.as is "julian": .*"yyyymmdd"/,
    ],
    [
      'no column',
      { partitionBy: { grain: 'day', timeZone: 'UTC' } },
      'config.tables[0].partitionBy.column is missing: ',
    ],
    ['a name that is no text', { name: 7 }, 'config.tables[0].name is 7: '],
    ['a build that is no function', { build: 'select 1' }, 'config.tables[0].build is "select 1": expected a function'],
    ['an unknown value', { whenEmpty: 'maybe' }, 'config.tables[0].whenEmpty is "maybe": '],
    [
      'an unknown check',
      { checks: [notNull(['a']), { kind: 'magic' }] },
      /config\.tables\[0\]\.checks\[1\]\.kind is "magic": /,
    ],
    ['a check without columns', { checks: [notNull([])] }, 'config.tables[0].checks[0].columns is []: '],
    ['half a row', { checks: [rowCount({ min: 0.5 })] }, 'config.tables[0].checks[0].min is 0.5: '],
    [
      'a column of 64 bytes',
      { checks: [notNull([`${'ä'.repeat(31)}xy`])] },
      /checks\[0\]\.columns\[0\] is "ä+xy": .*63 bytes/,
    ],
    ['an unknown timeout', { timeouts: { attemt: '5 s' } }, 'config.tables[0].timeouts.attemt is "5 s": '],
  ])('%s', (_, changes, message) => {
    expect(refused(changes)).toMatch(message);
  });

  it('all of it at once, a line each', () => {
    const message = refused({ name: 7, cumulative: 'no', owner: null });
    expect(message.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'config.tables[0].name',
      'config.tables[0].owner',
      'config.tables[0].cumulative',
    ]);
  });

  it('two definitions of one table, however spelled', () => {
    const message = messageOf(() => parseConfig({ tables: [table, { ...table, name: '"public"."fact"' }] }));
    expect(message).toBe('Two definitions are of public.fact; a table has one');
  });

  test.each([[undefined], [null], ['x'], [[]], [{}], [{ tables: {} }]])('%j is no config', (input) => {
    expect(messageOf(() => parseConfig(input))).toMatch(/^config/);
  });
});

describe('C23 a password is in no message', () => {
  const url = `postgres://app:${SECRET}@db/x`;
  test.each<[string, object]>([
    ['an unknown field at the top', { database: { url }, tabels: [], tables: [] }],
    ['a missing field at the top', { database: { url } }],
    ['a misspelt section', { databse: { url }, tables: [] }],
    ['the URL in the wrong place', { databaseUrl: url, tables: [] }],
    ['a misspelt field of the section', { database: { ulr: url }, tables: [] }],
    ['a URL of the wrong type', { database: { url: [url] }, tables: [] }],
    ['a section of the wrong type', { database: url, tables: [] }],
    ['something else that is wrong', { database: { url }, tables: [{ ...table, name: 1 }] }],
    ['two definitions', { database: { url }, tables: [table, table] }],
  ])('%s', (_, input) => {
    const message = messageOf(() => parseConfig(input));
    expect(message).not.toContain(SECRET);
    expect(message).toMatch(/config|definitions/);
  });
});

describe('loadConfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backfill-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const checkout = join(import.meta.dirname, '../../src/config');
  let files = 0;

  async function load(text: string, name = `c${files++}.config.ts`) {
    const file = join(folder, name);
    writeFileSync(file, text);
    return loadConfig(file).then(
      (config) => ({ config, message: '', error: undefined }),
      (error: unknown) => ({ config: undefined, message: (error as Error).message, error }),
    );
  }

  it('reads TypeScript', async () => {
    const { config } = await load(`
      import { defineConfig, defineTable, sql } from '${checkout}/define.ts';
      const zone: string = 'Europe/Berlin';
      export default defineConfig({ tables: [defineTable({
        name: 'mart.fact', partitionBy: { column: 'day', grain: 'day', timeZone: zone },
        build: ({ start, end }) => sql\`select at from src where at >= \${start} and at < \${end}\`,
      })] });`);
    expect(config?.definitions.map(({ name, partitioning }) => [name, partitioning.timeZone])).toEqual([
      ['mart.fact', 'Europe/Berlin'],
    ]);
  });

  it('says that there is no such file, and how to name another', async () => {
    await expect(loadConfig(join(folder, 'none.ts'))).rejects.toThrow(/no config file .*none\.ts; .*BACKFILL_CONFIG/);
  });

  it('names the file and the place', async () => {
    const { error, message } = await load('export default { tables: [{ name: 7 }] };', 'bad.config.ts');
    expect(error).toBeInstanceOf(ConfigError);
    expect(message).toMatch(/bad\.config\.ts: config\.tables\[0\]\.name is 7: /);
  });

  it.each([
    ['does not parse', 'export default {{'],
    ['throws', 'throw new Error("out of order")'],
    ['throws no error', 'throw "out of order"'],
    ['has no default export', 'export const definitions = [];'],
    ['imports what is not there', 'import "./nothing-here.js"; export default { tables: [] };'],
  ])('a file that %s', async (_, text) => {
    const { error, message } = await load(text);
    expect(error).toBeInstanceOf(ConfigError);
    expect(message).toMatch(/c\d+\.config\.ts(?:: config| cannot be loaded: .)/);
  });

  it.each([
    ['does not parse', `const url = 'postgres://app:${SECRET}@db/x'; export default {{ url`],
    ['reads a malformed URL', `new URL('postgres://app:${SECRET}@[db/x'); export default { tables: [] };`],
    ['has the URL in the wrong place', `export default { url: 'postgres://app:${SECRET}@db/x', tables: [] };`],
  ])('C23 a file that %s gives no password away', async (_, text) => {
    const { error, message } = await load(text);
    expect(error).toBeInstanceOf(ConfigError);
    expect(message).not.toContain(SECRET);
    // Printed whole, as a crash would, with its causes and their fields.
    expect(inspect(error, { depth: 10 })).not.toContain(SECRET);
  });
});
