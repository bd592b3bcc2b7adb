import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { metrics } from '../../src/domain/metrics.js';
import { run } from '../support/cli-world.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const pages = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'docs/operations.md'];

test.each(pages)('every file that %s links to is there', (page) => {
  const links = [...readFileSync(root + page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path);
  expect(links.filter((path) => path === undefined || !existsSync(join(root, dirname(page), path)))).toEqual([]);
});

test('every promise of the README names a test', () => {
  const table = readFileSync(`${root}README.md`, 'utf8').split('## What is promised')[1]?.split('\n## ')[0] ?? '';
  const promises = table.split('\n').filter((line) => line.startsWith('| **'));
  expect(promises).toHaveLength(11);
  for (const promise of promises) expect(promise).toMatch(/\]\(test\/[a-z]+\/[a-z0-9-]+\.test\.ts\)/);
});

test('every command and every environment variable is described where a user looks', async () => {
  const text = ['README.md', 'docs/operations.md'].map((page) => readFileSync(root + page, 'utf8')).join('\n');
  const { stdout } = await run(['--help']);
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) .*\[options\]/gm)].map(([, name]) => name);
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((name) => !text.includes(`backfill ${name}`))).toEqual([]);
  expect(variablesOf(`${root}src`).filter((name) => !text.includes(name))).toEqual([]);
});

test('every metric of ours is described', () => {
  const text = readFileSync(`${root}docs/operations.md`, 'utf8');
  expect(Object.values(metrics).filter(({ name }) => !text.includes(`\`${name}`))).toEqual([]);
});

/** `BACKFILL_…` wherever the source reads the environment. */
function variablesOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const source = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  const names = new Set([...source.matchAll(/'(BACKFILL_[A-Z_]+)'/g)].flatMap(([, name]) => name ?? []));
  expect(names).toContain('BACKFILL_HTTP');
  return [...names];
}
