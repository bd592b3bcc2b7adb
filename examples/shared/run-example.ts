import pg from 'pg';
import { BackfillClient, RunNotFound } from 'temporal-backfill';
import { printCommand } from './print.js';
import { type RunningStack, type StackOptions, startStack } from './stack.js';

/** As a shell counts it: 128 and the number of SIGINT. */
const INTERRUPTED = 130;

/** Starts the servers, tells the story, and stops them, however it ends. The story's exit code becomes this process's. */
export async function runExample(
  options: StackOptions,
  story: (stack: RunningStack) => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await tell(options, story);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

async function tell(options: StackOptions, story: (stack: RunningStack) => Promise<number>): Promise<number> {
  const stack = await startStack(options);
  try {
    return await story(stack);
  } catch (error) {
    // What fails while all is ending says nothing.
    if (stack.isEnding()) return INTERRUPTED;
    throw error;
  } finally {
    await stack.stop();
  }
}

/** The connection ends with the work: PostgreSQL ends before this process does, and would be missed. */
export async function withDatabase<T>(stack: RunningStack, work: (database: pg.Client) => Promise<T>): Promise<T> {
  const database = new pg.Client({ connectionString: stack.databaseUrl });
  // A connection that is cut is told to the query that waits for it; without a listener it would end this process.
  database.on('error', () => {});
  await database.connect();
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}

/** Whether a run that an earlier start left, killed in the middle, is still open. */
export async function isOpen({ temporalAddress: address }: RunningStack, run: string): Promise<boolean> {
  const client = await BackfillClient.connect({ address });
  try {
    return (await client.get(run).describe()).status === 'running';
  } catch (error) {
    if (error instanceof RunNotFound) return false;
    throw error;
  } finally {
    await client.close();
  }
}

/** Runs a command and shows it, as a user types it. Returns its exit code. */
export function typed(stack: RunningStack, ...args: string[]): Promise<number> {
  printCommand(['backfill', ...args]);
  return stack.backfill(...args);
}
