/**
 * `npm start`: fourteen days of revenue are repaired, on real servers, by the commands that a user types.
 *
 * Killed with -9 in the middle and started again it goes on at the day where it was; run again after the end it does the
 * work again, and the table is the same.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { BackfillClient, RunNotFound } from 'temporal-backfill';
import { rememberBefore } from './before.js';
import { loadRevenue } from './load.js';
import { printCommand, title } from './print.js';
import { printDoors } from './print-doors.js';
import { printProof } from './print-proof.js';
import { REQUEST, RUN } from './request.js';
import { type RunningStack, startStack } from './stack.js';

/** As a shell counts it: 128 and the number of SIGINT. */
const INTERRUPTED = 130;

const { values: flags } = parseArgs({
  options: { exit: { type: 'boolean' }, reset: { type: 'boolean' }, pause: { type: 'string' } },
});

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function main(): Promise<number> {
  title('PostgreSQL, Temporal and a worker start; their data stay in .backfill/');
  const stack = await startStack(Number(flags.pause ?? process.env['BACKFILL_DEMO_PAUSE'] ?? 1));
  const isToStay = process.stdout.isTTY && !flags.exit;
  try {
    const code = await demonstrate(stack);
    if (code !== 0) return code;
    printDoors(stack);
    console.log(
      isToStay
        ? '\nEverything stays up until Ctrl-C.'
        : '\nIt ends now. In a terminal, npm start stays up for you to try these.',
    );
    return isToStay ? await stack.ended : 0;
  } catch (error) {
    // What fails while all is ending says nothing.
    if (stack.isEnding()) return INTERRUPTED;
    throw error;
  } finally {
    await stack.stop();
  }
}

/** The connection ends with it: PostgreSQL ends before this process does, and would be missed. */
async function demonstrate(stack: RunningStack): Promise<number> {
  const database = new pg.Client({ connectionString: stack.databaseUrl });
  // A connection that is cut is told to the query that waits for it; without a listener it would end this process.
  database.on('error', () => {});
  await database.connect();
  try {
    const code = await repair(stack, database);
    if (stack.isEnding()) console.log('\nThe next npm start goes on with it.');
    if (code !== 0) return code;
    title('The proof');
    return (await printProof(database)) ? 0 : 1;
  } finally {
    await database.end();
  }
}

/** Runs the backfill, or goes on with the one that an earlier start left. Returns the command's exit code. */
async function repair(stack: RunningStack, database: pg.Client): Promise<number> {
  if (await isOpen(stack)) {
    title('A run of an earlier start is still open: it goes on where it was');
    return typed(stack, 'watch', RUN);
  }
  await prepareTable(database);
  title('The plan and the run');
  console.log('Kill the worker (kill -9, its pid is above): the run goes on where it was.\n');
  const { table, from, to } = REQUEST;
  return typed(stack, 'start', table, '--from', from, '--to', to, '--reason', 'divide by the rate', '--yes');
}

async function isOpen({ temporalAddress: address }: RunningStack): Promise<boolean> {
  const client = await BackfillClient.connect({ address });
  try {
    return (await client.get(RUN).describe()).status === 'running';
  } catch (error) {
    if (error instanceof RunNotFound) return false;
    throw error;
  } finally {
    await client.close();
  }
}

async function prepareTable(database: pg.Client): Promise<void> {
  const { table, from, to } = REQUEST;
  const { rows } = await database.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table]);
  if (rows[0]?.there && !flags.reset) {
    title('The table is there from an earlier start');
    console.log('It stays as it is. To make it wrong again: npm start -- --reset');
  } else {
    title('Half a year of orders and the ECB rates are loaded');
    await loadRevenue((text, values) => database.query(text, values));
    console.log(`${table} is wrong from ${from} to ${to}, as the bug left it.`);
  }
  await rememberBefore(database);
}

function typed(stack: RunningStack, ...args: string[]): Promise<number> {
  printCommand(['backfill', ...args]);
  return stack.backfill(...args);
}
