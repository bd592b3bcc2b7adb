import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test.each(['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md'])('every file that %s links to is there', (page) => {
  const links = [...readFileSync(root + page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path);
  expect(links.filter((path) => path === undefined || !existsSync(root + path))).toEqual([]);
});

test('every promise of the README names a test', () => {
  const table = readFileSync(`${root}README.md`, 'utf8').split('## What is promised')[1]?.split('\n## ')[0] ?? '';
  const promises = table.split('\n').filter((line) => line.startsWith('| **'));
  expect(promises).toHaveLength(10);
  for (const promise of promises) expect(promise).toMatch(/\]\(test\/[a-z]+\/[a-z0-9-]+\.test\.ts\)/);
});
