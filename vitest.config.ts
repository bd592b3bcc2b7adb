import { defineConfig } from 'vitest/config';
import { PlainLineReporter } from './test/support/plain-line-reporter.js';

/** The projects do not inherit from the root: with `extends`, the global setup runs once more for each of them. */
const shared = { pool: 'forks', maxWorkers: 2 } as const;

/** Here and not at the root, so that a run of unit tests alone starts no server. */
const servers = {
  ...shared,
  globalSetup: 'test/support/global-setup.ts',
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const;

/** What depends on PostgreSQL most, once more on the oldest version that is supported. The setup knows the project's name. */
const ON_POSTGRES_15 = [
  'admission',
  'atomic',
  'c02-range-ends',
  'c05-empty-source',
  'c06-struck-midway',
  'c10-one-day-failed',
  'c16-default-partition',
  'c18-columns-by-name',
  'c19-stray-rows',
  'c21-long-names',
  'c27-gaps',
  'every-type',
  'golden',
  'grains',
  'hostile-search-path',
  'ledger-indexes',
  'prune',
  'rows-of-triggers',
  'schema',
  'session-leftovers',
  'statistics',
  'table-refusals',
  'tables',
  'triggers-and-rules',
  'undo',
].map((name) => `test/integration/${name}.test.ts`);

export default defineConfig({
  test: {
    ...shared,
    reporters: ['default', new PlainLineReporter()],
    projects: [
      {
        test: { ...shared, name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 30_000 },
      },
      {
        test: { ...servers, name: 'servers', include: ['test/**/*.test.ts'], exclude: ['test/unit/**'] },
      },
      {
        test: { ...servers, name: 'postgres-15', include: ON_POSTGRES_15 },
      },
    ],
  },
});
