import { readFile } from 'node:fs/promises';
import { inTransaction, type Query } from '../shared/transaction.js';

interface Rates {
  readonly days: string[];
  readonly currencies: string[];
  readonly unitsPerEuro: string[];
}

/** Makes the schemas `raw` and `mart` anew, dropping whatever they held, with the table as the buggy code left it. */
export async function loadRevenue(query: Query): Promise<void> {
  const rates = parseRates(await readText('ecb-rates-2026.csv'));
  await inTransaction(query, async () => {
    await query(await readText('sql/01-source.sql'));
    await insertRates(query, rates);
    await query(await readText('sql/02-mart.sql'));
    await query(await readText('sql/03-as-the-buggy-code-left-it.sql'));
  });
}

function readText(file: string): Promise<string> {
  return readFile(new URL(file, import.meta.url), 'utf8');
}

/** Rates stay text all the way: a JavaScript number need not keep every digit. */
function parseRates(csv: string): Rates {
  const rates: Rates = { days: [], currencies: [], unitsPerEuro: [] };
  const [header, ...lines] = csv.trimEnd().split(/\r?\n/);
  if (header !== 'date,currency,units_per_euro') {
    throw new Error(`ecb-rates-2026.csv must begin with "date,currency,units_per_euro", not "${header ?? ''}"`);
  }
  for (const [index, line] of lines.entries()) {
    const [day, currency, unitsPerEuro, ...rest] = line.split(',');
    if (!day || !currency || !unitsPerEuro || rest.length > 0) {
      throw new Error(`ecb-rates-2026.csv line ${index + 2} must have three values, not "${line}"`);
    }
    rates.days.push(day);
    rates.currencies.push(currency);
    rates.unitsPerEuro.push(unitsPerEuro);
  }
  return rates;
}

async function insertRates(query: Query, { days, currencies, unitsPerEuro }: Rates): Promise<void> {
  await query(
    `insert into raw.ecb_rates (day, currency, units_per_euro)
     select * from unnest($1::date[], $2::text[], $3::numeric[])`,
    [days, currencies, unitsPerEuro],
  );
}
