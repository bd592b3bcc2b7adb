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
import { printProof } from './print-proof.js';
import { type RunningStack, startStack } from './stack.js';

const TABLE = 'mart.daily_revenue';
const FROM = '2026-03-01';
const TO = '2026-03-14';
const RUN = `backfill/${TABLE}/${FROM}..${TO}`;

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
  const stack = await startStack(Number(flags.pause ?? process.env['BACKFILL_DEMO_PAUSE'] ?? 1));
  const database = new pg.Client({ connectionString: stack.databaseUrl });
  try {
    await database.connect();
    const code = await repair(stack, database);
    if (code !== 0) return code;
    title('The proof');
    const isRight = await printProof(database);
    printDoors(stack);
    if (flags.exit || !process.stdout.isTTY) return isRight ? 0 : 1;
    console.log('\nEverything stays up until Ctrl-C.');
    return await stack.ended;
  } finally {
    await database.end();
    await stack.stop();
  }
}

/** Runs the backfill, or goes on with the one that an earlier start left. Returns the command's exit code. */
async function repair(stack: RunningStack, database: pg.Client): Promise<number> {
  if (await isOpen(stack)) {
    title('A run of an earlier start is still open: it goes on where it was');
    return typed(stack, 'watch', RUN);
  }
  await prepareTable(database);
  title('The plan, and the run. Kill its worker in the middle (kill -9, its pid is above): it goes on where it was');
  return typed(stack, 'start', TABLE, '--from', FROM, '--to', TO, '--reason', 'divide by the rate', '--yes');
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
  const { rows } = await database.query<{ there: boolean }>(`select to_regclass('${TABLE}') is not null as there`);
  if (rows[0]?.there && !flags.reset) {
    title('The table is there from an earlier start (npm start -- --reset makes it wrong again)');
  } else {
    title('Loading half a year of orders and the ECB rates; the table as the buggy code left it');
    await loadRevenue((text, values) => database.query(text, values));
  }
  await rememberBefore(database);
}

function printDoors({ uiUrl, temporalAddress, temporalCli }: RunningStack): void {
  const input = JSON.stringify({ table: TABLE, from: FROM, to: TO });
  title('The same run in the Temporal Web UI');
  console.log(`${uiUrl}/namespaces/default/workflows/${encodeURIComponent(RUN)}`);
  title('The same from the Temporal CLI');
  console.log(
    `${temporalCli} workflow start --address ${temporalAddress} --task-queue backfill --type backfill --workflow-id '${RUN}' --input '${input}'`,
  );
  title('The same from client code');
  console.log(`import { BackfillClient } from 'temporal-backfill';
const client = await BackfillClient.connect({ address: '${temporalAddress}' });
const run = await client.start({ table: '${TABLE}', from: '${FROM}', to: '${TO}' });
console.log(await run.result());`);
}

function typed(stack: RunningStack, ...args: string[]): Promise<number> {
  console.log(`$ backfill ${args.map((arg) => (/^[\w./:-]+$/.test(arg) ? arg : `'${arg}'`)).join(' ')}\n`);
  return stack.backfill(...args);
}

function title(text: string): void {
  console.log(`\n── ${text}\n`);
}
