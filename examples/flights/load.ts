import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { inTransaction, type Query } from '../shared/transaction.js';

const HEADER = 'time_hour,carrier,origin,dest,dep_delay,arr_delay,distance';
const BATCH = 50_000;

/** Makes the schemas `raw` and `mart` anew, dropping whatever they held: all flights, and two tables without partitions. */
export async function loadFlights(query: Query): Promise<void> {
  const [header, ...flights] = (await readFlights()).trimEnd().split('\n');
  if (header !== HEADER) throw new Error(`flights-2013.csv.gz must begin with "${HEADER}", not "${header ?? ''}"`);
  await inTransaction(query, async () => {
    await query(await readText('sql/01-source.sql'));
    for (let i = 0; i < flights.length; i += BATCH) await insertFlights(query, flights.slice(i, i + BATCH));
    await query(await readText('sql/02-index.sql'));
    await query(await readText('sql/03-mart.sql'));
  });
}

async function readFlights(): Promise<string> {
  const packed = await readFile(new URL('flights-2013.csv.gz', import.meta.url));
  return (await promisify(gunzip)(packed)).toString();
}

function readText(file: string): Promise<string> {
  return readFile(new URL(file, import.meta.url), 'utf8');
}

/** Lines go to PostgreSQL as they are: no value of this file is quoted, and an empty one is null. */
async function insertFlights(query: Query, lines: readonly string[]): Promise<void> {
  await query(
    `insert into raw.flights (time_hour, carrier, origin, dest, dep_delay, arr_delay, distance)
     select f[1]::timestamptz, f[2], f[3], f[4], f[5]::int, f[6]::int, f[7]::int
     from unnest($1::text[]) line
     cross join lateral string_to_array(line, ',', '') f`,
    [lines],
  );
}
