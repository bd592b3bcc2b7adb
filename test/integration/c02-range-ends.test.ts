import { afterAll, beforeAll, expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { runBackfill } from '../support/commands.js';
import { entrances, valueOf } from '../support/entrances.js';
import { FACT, NEW, OLD, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness(FACT, { tables: [factTable()] });
});
afterAll(() => harness.close());

const ranges = [
  { from: '2024-03-03', to: '2024-03-03', days: march(3, 3) },
  { from: '2024-03-03', to: '2024-03-05', days: march(3, 5) },
];
const cases = entrances.flatMap((entrance) => ranges.map((range) => ({ ...range, entrance, name: entrance.name })));

test.each(cases)('C02 $from to $to is exactly $days, by $name', async ({ entrance, from, to, days }) => {
  const request = { table: 'fact', from, to };
  const before = await fingerprints(harness.db);
  const plan = valueOf(await entrance.plan(harness, request));
  expect(plan.partitions.map(({ key }) => key)).toEqual(days);
  expect(changedDays(before, await fingerprints(harness.db))).toEqual([]);

  const result = valueOf(await entrance.run(harness, request));
  expect(result).toMatchObject({ from, to, partitions: days.length });
  const after = await fingerprints(harness.db);
  expect(changedDays(before, after)).toEqual(days);
  for (const day of days) expect(after.get(day)).toMatchObject(NEW);
  for (const day of ['2024-03-02', '2024-03-06']) expect(after.get(day)).toMatchObject(OLD);
  const run = await harness.client.readRun(result.planId);
  expect(run?.replacements.map(({ key }) => key)).toEqual(days);
});

test('C02 help, plan and report say in words that both ends are included', async () => {
  const range = ['fact', '--from', '2024-03-03', '--to', '2024-03-05'];
  const said = await Promise.all([
    runBackfill(harness.env, '--help'),
    runBackfill(harness.env, 'plan', '--help'),
    runBackfill(harness.env, 'start', '--help'),
    runBackfill(harness.env, 'plan', ...range),
  ]);
  for (const { stdout } of said) expect(flat(stdout)).toMatch(/both ends of (the|a) range are included|both included/i);
  const started = await runBackfill(harness.env, 'start', ...range, '--yes');
  expect(flat(started.stdout)).toContain(
    'This plan replaces 3 partitions of public.fact, 2024-03-03 to 2024-03-05, both included',
  );
  expect(flat(started.stdout)).toContain(
    'Completed: 3 partitions of public.fact, 2024-03-03 to 2024-03-05, both included',
  );
});

/** Without the line breaks of a terminal's width. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ');
}
