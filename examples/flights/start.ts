/**
 * `npm run example:flights`: a year of flights becomes two tables with a partition a day, and what came out is checked
 * against known figures. Ends with 0 where all is right.
 *
 * Killed with -9 in the middle and started again it goes on where it was.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { title } from '../shared/print.js';
import { isOpen, runExample, typed, withDatabase } from '../shared/run-example.js';
import type { RunningStack } from '../shared/stack.js';
import { checkFlights } from './check.js';
import { type Facts, FACTS, runOf } from './facts.js';
import { loadFlights } from './load.js';

const { values: flags } = parseArgs({ options: { stay: { type: 'boolean' } } });

title('Servers and a worker start; their data stay in examples/flights/.backfill/');
await runExample(
  // Not the folder of `npm start`, which may be running.
  { config: new URL('backfill.config.ts', import.meta.url), folder: fileURLToPath(new URL('.', import.meta.url)) },
  async (stack) => {
    const code = await withDatabase(stack, (database) => backfillAndCheck(stack, database));
    if (code !== 0 || !flags.stay) return code;
    console.log('\nEverything stays up until Ctrl-C. Commands find it from examples/flights.');
    return stack.ended;
  },
);

async function backfillAndCheck(stack: RunningStack, database: pg.Client): Promise<number> {
  const code = await backfillAll(stack, database);
  if (code !== 0) return code;
  title('The check');
  const { isRight, text } = await checkFlights((statement, values) => database.query(statement, values));
  console.log(`${text}\n\n${isRight ? 'All is as it must be.' : 'Something is NOT as it must be.'}`);
  return isRight ? 0 : 1;
}

/** One table after the other, or goes on with the one at which an earlier start was killed. Returns the exit code. */
async function backfillAll(stack: RunningStack, database: pg.Client): Promise<number> {
  const left = await findOpen(stack);
  if (left === undefined) {
    title('A year of flights is loaded');
    await loadFlights((text, values) => database.query(text, values));
    console.log('The tables in schema mart have no partitions yet.');
  }
  for (const facts of left === undefined ? FACTS : FACTS.slice(FACTS.indexOf(left))) {
    const code = await (facts === left ? goOn(stack, facts) : backfill(stack, facts));
    if (code !== 0) return code;
  }
  return 0;
}

async function findOpen(stack: RunningStack): Promise<Facts | undefined> {
  for (const facts of FACTS) if (await isOpen(stack, runOf(facts))) return facts;
  return undefined;
}

function goOn(stack: RunningStack, facts: Facts): Promise<number> {
  title('A run of an earlier start is still open: it goes on where it was');
  return typed(stack, 'watch', runOf(facts));
}

/** Four days at once, and so in any order: no day of these tables is built on another. */
function backfill(stack: RunningStack, { table, timeZone, from, to }: Facts): Promise<number> {
  title(`${table}: the days of ${timeZone}`);
  const options = ['--concurrency', '4', '--publish', 'any-order', '--yes'];
  return typed(stack, 'start', table, '--from', from, '--to', to, ...options);
}
