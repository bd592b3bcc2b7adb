import { afterAll, beforeAll, expect, test } from 'vitest';
import { FACT, NEW, OLD, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(FACT, { tables: [factTable()] });
});
afterAll(() => harness.close());

test('C02 both ends of the range are included', async () => {
  const before = await fingerprints(harness.db);
  const plan = await harness.client.plan({ table: 'fact', from: '2024-03-03', to: '2024-03-05' });
  console.log(plan);
  expect(plan.partitions.map(({ key }) => key)).toEqual(march(3, 5));
  const handle = await harness.client.start({ table: 'fact', from: '2024-03-03', to: '2024-03-05' });
  const result = await handle.result();
  console.log(result, await handle.progress());
  const after = await fingerprints(harness.db);
  for (const day of march(3, 5)) expect(after.get(day)).toMatchObject(NEW);
  for (const day of [...march(1, 2), ...march(6, 10)]) expect(after.get(day)).toEqual({ ...before.get(day) });
  expect(after.get('2024-03-02')).toMatchObject(OLD);
});
