import type pg from 'pg';
import { startMessageCounter } from '../test/support/message-counter.js';
import { createTables, settle } from './data.js';
import { type Runner, createRunner } from './ours.js';
import type { RunPhases } from './phases.js';
import { runPlainLoop } from './plain-loop.js';
import { type Profile, profileOf } from './profile.js';
import type { Scenario } from './scenario.js';
import { type StatementTime, readStatements, resetStatements } from './statements.js';
import { type BenchDatabase, type Servers, withClient } from './servers.js';
import { startWorker } from './worker.js';

/** One pass over the scenario, of the plain loop or of a run. */
export interface Pass {
  readonly ms: number;
  readonly walBytes: number;
}

export interface Round {
  readonly plain: Pass;
  readonly ours: Pass;
  readonly phases: RunPhases;
}

/** One scenario at one concurrency. */
export interface Measurement {
  readonly scenario: Scenario;
  readonly concurrency: number;
  readonly rounds: readonly Round[];
  readonly peakMiB: number | null;
  readonly statements: number;
  readonly roundTrips: number;
  readonly profile: Profile | null;
}

export interface MeasureOptions {
  readonly concurrencies: readonly number[];
  readonly rounds: number;
  readonly profile?: boolean;
  readonly log?: (line: string) => void;
}

/** Measures a scenario, in a database of its own. */
export async function measureScenario(
  servers: Servers,
  scenario: Scenario,
  options: MeasureOptions,
): Promise<Measurement[]> {
  const database = await servers.createDatabase();
  const runner = await createRunner(servers);
  try {
    return await withClient(database.url, async (db) => {
      options.log?.(`${scenario.name}: making tables`);
      await createTables(db, scenario);
      // The first pass is unlike all others: the table has no room yet that old rows have left.
      await runPlainLoop(db, scenario);
      const place = { servers, database, runner, db };
      const wire = await countMessages(place, scenario);
      const measured: Measurement[] = [];
      for (const concurrency of options.concurrencies) {
        measured.push({ ...(await measureAt(place, scenario, concurrency, options)), ...wire });
      }
      return measured;
    });
  } finally {
    await database.drop();
  }
}

interface Place {
  readonly servers: Servers;
  readonly database: BenchDatabase;
  readonly runner: Runner;
  readonly db: pg.Client;
}

async function measureAt(
  { servers, database, runner, db }: Place,
  scenario: Scenario,
  concurrency: number,
  { rounds, profile, log }: MeasureOptions,
): Promise<Omit<Measurement, 'statements' | 'roundTrips'>> {
  const worker = await startWorker(servers, { databaseUrl: database.url, slots: Math.max(concurrency, 10) });
  try {
    // Not measured: code is compiled, connections are opened.
    await runner.run(scenario, concurrency, Math.min(scenario.count, 2 * concurrency));
    const done: Round[] = [];
    let lastProfile: Profile | null = null;
    const spent = { plain: [] as StatementTime[], ours: [] as StatementTime[] };
    const counted = async <T>(whose: keyof typeof spent, work: () => Promise<T>): Promise<T> => {
      if (profile) await resetStatements(db);
      const result = await work();
      if (profile) spent[whose] = await readStatements(db);
      return result;
    };
    const runPlain = () => counted('plain', () => pass(db, scenario, () => runPlainLoop(db, scenario)));
    const runOurs = async () => {
      const { result, walBytes } = await counted('ours', () =>
        pass(db, scenario, () => runner.run(scenario, concurrency)),
      );
      return { ours: { ms: result.totalMs, walBytes }, phases: result };
    };
    for (let i = 0; i < rounds; i++) {
      // Each goes first in turn.
      const early = i % 2 === 0 ? await runPlain() : undefined;
      const ours = await runOurs();
      const round: Round = { ...ours, plain: early ?? (await runPlain()) };
      if (profile) lastProfile = profileOf(round, spent, scenario.count);
      done.push(round);
      log?.(roundText(scenario, concurrency, i + 1, round));
    }
    return { scenario, concurrency, rounds: done, peakMiB: worker.peakMiB(), profile: lastProfile };
  } finally {
    await worker.stop();
  }
}

function roundText({ name }: Scenario, concurrency: number, number: number, { plain, ours }: Round): string {
  return `${name} at ${concurrency}, round ${number}: plain ${Math.round(plain.ms)} ms, ours ${Math.round(ours.ms)} ms`;
}

async function pass<T>(
  db: pg.Client,
  scenario: Scenario,
  work: () => Promise<T>,
): Promise<Pass & { readonly result: T }> {
  await settle(db, scenario);
  const before = await walPosition(db);
  const start = performance.now();
  const result = await work();
  const ms = performance.now() - start;
  return { ms, walBytes: (await walPosition(db)) - before, result };
}

async function walPosition(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ at: string }>(`select pg_current_wal_insert_lsn() - '0/0' as at`);
  return Number(rows[0]?.at);
}

const COUNTED = 5;

/** What a replacement sends, of a few, and apart from the rounds: the proxy that counts takes time. */
async function countMessages({ servers, database, runner }: Place, scenario: Scenario) {
  const counter = await startMessageCounter(database.url);
  try {
    const worker = await startWorker(servers, { databaseUrl: counter.url, slots: 10 });
    try {
      await runner.run(scenario, 1, Math.min(scenario.count, COUNTED));
    } finally {
      await worker.stop();
    }
    const most = (of: 'statements' | 'roundTrips') => Math.max(...counter.replacements.map((one) => one[of]));
    return { statements: most('statements'), roundTrips: most('roundTrips') };
  } finally {
    await counter.close();
  }
}
