import { afterAll, beforeAll, expect, test } from 'vitest';
import { changedDays } from '../support/changed-days.js';
import { type AnyRequest, entrances, execute, valueOf } from '../support/entrances.js';
import { FACT, factTable, fingerprints, march } from '../support/fact.js';
import { type Harness, createHarness } from '../support/harness.js';
import { readTraces } from '../support/traces.js';

let harness: Harness;
beforeAll(async () => {
  // The year 2100 must have ended: what has not is left alone.
  const now = () => new Date('2200-01-01T00:00:00Z');
  harness = await createHarness(FACT, { tables: [factTable()], now });
});
afterAll(() => harness.close());

const texts = ['2023-02-29', '2024-02-30', '2024-13-01', '2024-3-1', '01/03/2024', ''];
/** As JSON and the client can say them; a command line has text only, which `texts` covers. */
const noTexts = [null, 20240301];

interface Bad {
  readonly request: AnyRequest;
  /** The offending value as the message must show it. */
  readonly value: string;
}

function badRequests(values: readonly unknown[]): Bad[] {
  return [
    { request: { table: 'fact', from: '2024-03-05', to: '2024-03-04' }, value: '2024-03-04' },
    { request: { table: 'fact', from: '2024-03-01', to: '2024-02-30' }, value: '"2024-02-30"' },
    ...values.map((from) => ({ request: { table: 'fact', from, to: '2024-03-04' }, value: JSON.stringify(from) })),
  ];
}

test.each(entrances)('C03 reversed and impossible dates are refused, by $name', async (entrance) => {
  const bad = badRequests(entrance.name === 'the backfill CLI' ? texts : [...texts, ...noTexts]);
  const before = { rows: await fingerprints(harness.db), traces: await readTraces(harness) };
  const replies = await Promise.all(bad.map(({ request }) => entrance.run(harness, request)));
  const plans = await Promise.all(bad.map(({ request }) => entrance.plan(harness, request)));
  for (const [i, { value }] of bad.entries()) {
    const refusal = { ok: false, type: 'InvalidRequest', message: expect.stringContaining(value) as string };
    expect(replies[i]).toMatchObject(refusal);
    expect(plans[i]).toMatchObject(refusal);
  }
  const rows = await fingerprints(harness.db);
  expect({ rows, traces: await readTraces(harness) }).toEqual(before);

  valueOf(await entrance.run(harness, { table: 'fact', from: '2024-03-04', to: '2024-03-04' }));
  expect(changedDays(rows, await fingerprints(harness.db))).toEqual(march(4, 4));
});

test('C03 dates that are no text are refused with the field and the value', async () => {
  const json = '{"table":"fact","from":20240301,"to":null}';
  const message = expect.stringMatching(/request\.from is 20240301.*\n.*request\.to is null/) as string;
  expect(await execute(harness, { type: 'backfill', inputs: [json] })).toEqual({
    ok: false,
    type: 'InvalidRequest',
    message,
  });
});

const leaps = [
  { year: 2024, days: ['02-27', '02-28', '02-29', '03-01'] },
  { year: 2023, days: ['02-27', '02-28', '03-01'] },
  { year: 2000, days: ['02-27', '02-28', '02-29', '03-01'] },
  { year: 2100, days: ['02-27', '02-28', '03-01'] },
];
const counted = entrances.flatMap((entrance) => leaps.map((leap) => ({ ...leap, entrance, name: entrance.name })));

test.each(counted)('C03 the end of February $year counts right, by $name', async ({ entrance, year, days }) => {
  const request = { table: 'fact', from: `${year}-02-27`, to: `${year}-03-01` };
  const plan = valueOf(await entrance.plan(harness, request));
  expect(plan.partitions.map(({ key }) => key)).toEqual(days.map((day) => `${year}-${day}`));
  expect(plan.counts.create + plan.counts.replace).toBe(days.length);
});
