/**
 * `npm start`: fourteen days of revenue are repaired, on real servers, by the commands that a user types.
 *
 * Killed with -9 in the middle and started again it goes on at the day where it was; run again after the end it does the
 * work again, and the table is the same.
 */
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { title } from '../shared/print.js';
import { isOpen, runExample, typed, withDatabase } from '../shared/run-example.js';
import type { RunningStack } from '../shared/stack.js';
import { rememberBefore } from './before.js';
import { loadRevenue } from './load.js';
import { printDoors } from './print-doors.js';
import { printProof } from './print-proof.js';
import { REQUEST, RUN } from './request.js';

const { values: flags } = parseArgs({
  options: { exit: { type: 'boolean' }, reset: { type: 'boolean' }, pause: { type: 'string' } },
});
/** That each day takes on top, so that there is something to watch. */
const pauseSeconds = flags.pause ?? process.env['BACKFILL_DEMO_PAUSE'] ?? '1';

title('PostgreSQL, Temporal and a worker start; their data stay in .backfill/');
await runExample(
  {
    config: new URL('backfill.config.ts', import.meta.url),
    folder: process.cwd(),
    env: { BACKFILL_DEMO_PAUSE: pauseSeconds },
  },
  async (stack) => {
    const isToStay = process.stdout.isTTY && !flags.exit;
    const code = await demonstrate(stack);
    if (code !== 0) return code;
    printDoors(stack);
    console.log(
      isToStay
        ? '\nEverything stays up until Ctrl-C.'
        : '\nIt ends now. In a terminal, npm start stays up for you to try these.',
    );
    return isToStay ? stack.ended : 0;
  },
);

function demonstrate(stack: RunningStack): Promise<number> {
  return withDatabase(stack, async (database) => {
    const code = await repair(stack, database);
    if (stack.isEnding()) console.log('\nThe next npm start goes on with it.');
    if (code !== 0) return code;
    title('The proof');
    return (await printProof(database)) ? 0 : 1;
  });
}

/** Runs the backfill, or goes on with the one that an earlier start left. Returns the command's exit code. */
async function repair(stack: RunningStack, database: pg.Client): Promise<number> {
  if (await isOpen(stack, RUN)) {
    title('A run of an earlier start is still open: it goes on where it was');
    return typed(stack, 'watch', RUN);
  }
  await prepareTable(database);
  title('The plan and the run');
  console.log('Kill the worker (kill -9, its pid is above): the run goes on where it was.\n');
  const { table, from, to } = REQUEST;
  return typed(stack, 'start', table, '--from', from, '--to', to, '--reason', 'divide by the rate', '--yes');
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
