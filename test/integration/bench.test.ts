import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { measureScenario } from '../../bench/measure.js';
import { parseScenario } from '../../bench/scenario.js';
import { createDatabase } from '../support/database.js';
import { type Harness, createHarness } from '../support/harness.js';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness('', null);
});
afterAll(() => harness.close());

test('the bench measures its smallest scenario', async () => {
  const servers = { temporalAddress: inject('temporalAddress'), temporal: harness.temporal, createDatabase };
  const [measured] = await measureScenario(servers, parseScenario('2x10'), { concurrencies: [1], rounds: 1 });
  const { plain, ours, phases } = measured?.rounds[0] ?? {};
  for (const [what, value] of Object.entries({
    ratio: Number(ours?.ms) / Number(plain?.ms),
    writing: phases?.writingMs,
    'the rest of the run': Number(phases?.totalMs) - Number(phases?.writingMs),
    'WAL of both': Math.min(Number(plain?.walBytes), Number(ours?.walBytes)),
    'events of a partition': phases?.writingEvents,
    statements: measured?.statements,
    'round trips': measured?.roundTrips,
  })) {
    expect(value, what).toBeGreaterThan(0);
    expect(value, what).toBeLessThan(Infinity);
  }
});
