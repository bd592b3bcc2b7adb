import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const tables = /\bcreate (?:table|function) (\w+)/g;

function filesOf(folder: string, extension: string): { readonly file: string; readonly text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension))
    .map((file) => ({ file, text: readFileSync(join(root, folder, file), 'utf8') }));
}

test('no statement names the schema of the ledger: it has the name that its owner gave it', () => {
  const migrations = filesOf('sql/migrations', '.sql');
  const names = migrations.flatMap(({ text }) => [...text.matchAll(tables)].map(([, name]) => name));
  expect(names).toContain('plan_partition');
  const literal = new RegExp(`\\bbackfill"?\\.(?:${[...names, 'migration'].join('|')})\\b`);
  const found = [...migrations, ...filesOf('src', '.ts')].filter(({ text }) => literal.test(text));
  expect(found.map(({ file }) => file)).toEqual([]);
});
