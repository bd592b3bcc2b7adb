import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { GATED_FACT, resetFact } from './gate.js';
import { type GatedWorkers, gatedWorkers } from './gated-worker.js';
import { type Harness, type TableInput, createHarness } from './harness.js';
import { terminateOpenRuns } from './history.js';

export interface GatedFact {
  /** From the first test on. */
  readonly harness: Harness;
  readonly workers: GatedWorkers;
}

/**
 * Gives the tests of a file the gated F1: as it was before each; after each, the runs and the worker processes that it
 * left are ended.
 * @param tables the definitions of a worker in this process; null for none
 */
export function useGatedFact(tables: readonly TableInput[] | null): GatedFact {
  let made: Harness | undefined;
  const current = (): Harness => {
    if (!made) throw new Error('There is a harness from the first test on');
    return made;
  };
  const workers = gatedWorkers(current);
  beforeAll(async () => {
    made = await createHarness(GATED_FACT, tables && { tables });
  });
  beforeEach(() => resetFact(current().db));
  afterEach(async () => {
    await terminateOpenRuns(current().temporal);
    await workers.endAll();
  });
  afterAll(() => current().close());
  return {
    harness: new Proxy({} as Harness, { get: (_, name) => Reflect.get(current(), name) as unknown }),
    workers,
  };
}
