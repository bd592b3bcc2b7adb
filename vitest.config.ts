import { defineConfig } from 'vitest/config';
import { PlainLineReporter } from './test/support/plain-line-reporter.js';

/** The projects do not inherit from the root: with `extends`, the global setup runs once more for each of them. */
const shared = { pool: 'forks', maxWorkers: 2 } as const;

export default defineConfig({
  test: {
    ...shared,
    reporters: ['default', new PlainLineReporter()],
    projects: [
      {
        test: { ...shared, name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 30_000 },
      },
      {
        test: {
          ...shared,
          name: 'servers',
          include: ['test/**/*.test.ts'],
          exclude: ['test/unit/**'],
          // Here and not at the root, so that a run of unit tests alone starts no server.
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
