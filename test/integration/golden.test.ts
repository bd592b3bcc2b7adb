import { describe, expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { entrances, valueOf } from '../support/entrances.js';
import { FACT, NEW, factTable, fingerprints, march } from '../support/fact.js';
import { createHarness } from '../support/harness.js';
import { leafFiles } from '../support/leaves.js';

const GAP = 'drop table fact_20240304; drop table fact_20240305;';
const request = { table: 'fact', from: '2024-03-01', to: '2024-03-10', select: 'missing' };

describe('a gap in the middle of a range is filled without touching the rest', () => {
  test.each(entrances)('by $name', async (entrance) => {
    const harness = await createHarness(`${FACT} ${GAP}`, { tables: [factTable()] });
    try {
      const before = { rows: await fingerprints(harness.db), files: await leafFiles(harness.db) };
      expect([...before.rows.keys()]).toEqual([...march(1, 3), ...march(6, 10)]);
      expect(before.files.size).toBe(8);

      const plan = valueOf(await entrance.plan(harness, request));
      expect(plan.partitions.map(({ key, action }) => [key, action])).toEqual([
        ['2024-03-04', 'create'],
        ['2024-03-05', 'create'],
      ]);
      expect(plan.leftAlone.map(({ key }) => key)).toEqual([...march(1, 3), ...march(6, 10)]);
      expect({ rows: await fingerprints(harness.db), files: await leafFiles(harness.db) }).toEqual(before);

      const result = valueOf(await entrance.run(harness, request));
      expect(result).toMatchObject({ partitions: 2, rowsBefore: 0, rowsAfter: 200 });
      const rows = await fingerprints(harness.db);
      expect(changedDays(before.rows, rows)).toEqual(march(4, 5));
      for (const day of march(4, 5)) expect(rows.get(day)).toMatchObject(NEW);
      const files = await leafFiles(harness.db);
      expect(files.size).toBe(10);
      for (const [name, file] of before.files) expect(files.get(name), name).toBe(file);
      const run = await harness.client.readRun(result.planId);
      expect(run?.replacements.map(({ key, status }) => [key, status])).toEqual([
        ['2024-03-04', 'created'],
        ['2024-03-05', 'created'],
      ]);
    } finally {
      await harness.close();
    }
  });
});
