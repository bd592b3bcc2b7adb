import { expect, it } from 'vitest';
import { demandDefinition } from '../../src/activities/dependencies.js';
import { parseConfig } from '../../src/config/load.js';
import { sql } from '../../src/config/define.js';
import { closest } from '../../src/domain/suggest.js';

const known = ['mart.daily_revenue', 'mart.monthly_revenue', 'raw.orders', 'public.t'];

it.each([
  ['mart.daily_revenu', 'mart.daily_revenue'],
  ['mart.dialy_revenue', 'mart.daily_revenue'],
  ['MART.Daily_Revenue', 'mart.daily_revenue'],
  ['daily_revenue', 'mart.daily_revenue'],
  ['marts.daily_revenue', 'mart.daily_revenue'],
  ['public.orders', 'raw.orders'],
  ['raw.ordres', 'raw.orders'],
  ['raw.customers', undefined],
  ['public.x', 'public.t'],
  ['', undefined],
])('%s: %s', (given, meant) => {
  expect(closest(given, known)).toBe(meant);
});

it('an unknown table: its failure says what was meant, or what there is', () => {
  const names = ['mart.daily_revenue', 'raw.orders'];
  const { definitions } = parseConfig({
    tables: names.map((name) => ({
      name,
      partitionBy: { column: 'day', grain: 'day', timeZone: 'UTC' },
      build: () => sql`select 1`,
    })),
  });
  const refusal = (table: string) => {
    try {
      return demandDefinition(definitions, table);
    } catch (error) {
      return error;
    }
  };
  expect(refusal('mart.daily_revenu')).toMatchObject({
    info: { type: 'UnknownTable', sample: ['mart.daily_revenue'] },
    message: expect.stringMatching(/; did you mean mart\.daily_revenue\?$/),
  });
  expect(refusal('x.y')).toMatchObject({
    info: { sample: names },
    message: expect.stringMatching(/; it knows: mart\.daily_revenue, raw\.orders$/),
  });
});
