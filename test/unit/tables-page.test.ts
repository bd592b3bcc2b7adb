import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { grains, numberForms } from '../../src/domain/grain.js';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const page = readFileSync(`${docs}tables.md`, 'utf8');

function rowsOf(title: string): string[] {
  const section = page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  return section.split('\n').filter((line) => /^\| (?!-|grain\b.*\|$|the table)/.test(line));
}

test('what the page of tables links to is there', () => {
  const links = [...page.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path ?? '');
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((path) => !existsSync(docs + path))).toEqual([]);
});

test.each([
  ['Columns', 8],
  ['Partitioning', 8],
])('every line under %s names the test that shows it', (title, lines) => {
  const rows = rowsOf(title);
  expect(rows).toHaveLength(lines);
  for (const row of rows) expect(row).toMatch(/\]\(\.\.\/test\/integration\/[a-z0-9-]+\.test\.ts\)/);
});

test('the page of tables knows every grain, and what numbers mean', () => {
  const known = rowsOf('Keys').map((row) => /`(\w+)`/.exec(row)?.[1]);
  expect(known).toEqual([...grains]);
  for (const form of numberForms) expect(page).toContain(`\`${form}\``);
});
