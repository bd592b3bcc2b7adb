import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line, `N passed, N failed`, for people who read the end of a log and for scripts. Whatever
 * makes the run fail counts as failed, even where no test did: a module that cannot be loaded, a hook of a suite, an
 * error that nobody caught.
 */
export class PlainLineReporter implements Reporter {
  #counts: Counts = { passed: 0, failed: 0, skipped: 0 };

  onInit(): void {
    // At exit, because coverage and the teardown of the servers print after the last test.
    process.once('exit', (code) => {
      // A global setup that throws fails the run before there is anything to count.
      const failed = code === 0 ? this.#counts.failed : Math.max(this.#counts.failed, 1);
      // A library's own exit handler may have replaced the runner's exit code by 0 (async-exit-hook does).
      if (failed > 0) process.exitCode = 1;
      process.stdout.write(`${printCounts({ ...this.#counts, failed })}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    this.#counts = countResults(modules, unhandledErrors);
  }
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function countResults(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): Counts {
  const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
  const count = (state: (typeof states)[number]) => states.filter((one) => one === state).length;
  // A test is still pending when the run was broken off: nobody knows that it passes.
  const failed = count('failed') + count('pending') + modules.filter(hasOwnError).length + unhandledErrors.length;
  return { passed: count('passed'), failed, skipped: count('skipped') };
}

/** Of the module or of a suite in it, not of its tests. */
function hasOwnError(module: TestModule): boolean {
  return module.errors().length > 0 || [...module.children.allSuites()].some((suite) => suite.errors().length > 0);
}

function printCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
