import type pg from 'pg';
import { readBefore } from './before.js';
import { expectedRevenueByDay, fingerprintsOutside, revenueByDay } from './proof.js';
import { REQUEST } from './request.js';

/** Prints revenue before and after, next to the figure worked out another way. Returns whether all is as it should be. */
export async function printProof(database: pg.Client): Promise<boolean> {
  const query = (text: string, values: unknown[]) => database.query<{ day: string; figure: string }>(text, values);
  const before = await readBefore(database);
  const after = await revenueByDay(query, REQUEST);
  const expected = await expectedRevenueByDay(query, REQUEST);
  const outside = await fingerprintsOutside(query, REQUEST);

  console.log(row('day', 'before', 'after', 'recomputed'));
  for (const [day, figure] of expected) {
    const now = after.get(day);
    console.log(row(day, money(before.revenue.get(day)), money(now), `${money(figure)} ${now === figure ? '✓' : '✗'}`));
  }
  console.log(row('total', money(total(before.revenue)), money(total(after)), `${money(total(expected))}  `));

  const wrongDays = [...expected].filter(([day, figure]) => after.get(day) !== figure).length;
  const changed = [...outside].filter(([day, figure]) => before.outside.get(day) !== figure).length;
  console.log(`
Euros, all currencies together. "recomputed" comes from the orders, by another
query than the build.`);
  console.log(
    `The ${outside.size} days outside the range: ${changed === 0 ? 'the same row versions as before' : `${changed} CHANGED`}.`,
  );
  return wrongDays === 0 && changed === 0 && outside.size === before.outside.size;
}

function row(day: string, before: string, after: string, recomputed: string): string {
  return `  ${day.padEnd(10)}  ${before.padStart(18)}  ${after.padStart(14)}  ${recomputed.padStart(16)}`.trimEnd();
}

/** Exact: in cents, which a JavaScript number would not be for long. */
function total(figures: ReadonlyMap<string, string>): string {
  const cents = [...figures.values()].reduce((sum, figure) => sum + BigInt(figure.replace('.', '')), 0n);
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
}

function money(figure: string | undefined): string {
  return figure === undefined ? '–' : figure.replace(/\B(?=(?:\d{3})+(?=\.))/g, ',');
}
