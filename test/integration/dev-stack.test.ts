import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { writePrivateJson } from '../../src/dev/private-json.js';
import { isStillThatProcess, type ProcessRecord, readPidFile, recordProcess } from '../../src/dev/processes.js';
import { type Stack, startStack, stopLeftovers } from '../../src/dev/stack.js';
import { readState, writeState } from '../../src/dev/state.js';

let folder: string;
let log: string[];
const cleanups: (() => unknown)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backfill-dev-'));
  chmodSync(folder, 0o711);
  log = [];
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const clean of cleanups.splice(0).toReversed()) await clean();
  await stopLeftovers(folder, () => {});
  rmSync(folder, { recursive: true, force: true });
});

describe('a stack', () => {
  test('runs real servers for this machine alone, and leaves nothing when it stops', async () => {
    const stack = await start();
    const servers = [readServer('postgres'), readServer('temporal')];
    expect(await queryRows(stack.databaseUrl, 'show timezone')).toEqual([{ TimeZone: 'UTC' }]);
    expect(await (await fetch(stack.uiUrl)).text()).toContain('<html');
    for (const address of foreignAddresses()) {
      expect(await accepts(address, portOf(stack.databaseUrl))).toBe(false);
      expect(await accepts(address, portOf(`http://${stack.temporalAddress}`))).toBe(false);
      expect(await accepts(address, portOf(stack.uiUrl))).toBe(false);
    }

    await stack.stop();
    await stack.stop();
    expect(servers.filter(isStillThatProcess)).toEqual([]);
    expect(pidFiles()).toEqual([]);
  });

  test('keeps its data and its addresses from one start to the next', async () => {
    const first = await start();
    await queryRows(first.databaseUrl, 'create table kept as select 7 as n');
    await first.stop();
    const second = await start();
    expect(second.databaseUrl).toBe(first.databaseUrl);
    expect(second.temporalAddress).toBe(first.temporalAddress);
    expect(await queryRows(second.databaseUrl, 'select n from kept')).toEqual([{ n: 7 }]);
  });

  test('has one owner; a second one is told which', async () => {
    const stack = await start();
    // Without the state file, the owner counts as starting or stopping, and is waited for.
    writeState(folder, stack);
    await expect(start()).rejects.toThrow(`Process ${process.pid} runs the stack of ${folder}`);
    expect(isStillThatProcess(readServer('postgres'))).toBe(true);
    await stack.stop();
    await (await start()).stop();
  });

  test('says so when a server ends by itself', async () => {
    const stack = await start();
    process.kill(readServer('temporal').pid, 'SIGKILL');
    expect(await stack.failed).toMatch(/^Temporal ended unexpectedly \(SIGKILL\); its log is .*temporal\.log$/);
  });

  test('that cannot start wholly leaves nothing running, and can be started later', async () => {
    vi.stubEnv('TEMPORAL_CLI', '/bin/false');
    await expect(start()).rejects.toThrow('Temporal did not start (code 1)');
    expect(pidFiles()).toEqual([]);
    vi.unstubAllEnvs();
    await (await start()).stop();
  });
});

describe('an owner that was killed', () => {
  test('leaves servers, which the next one stops; the data stay', async () => {
    const { owner, stack } = await startOwner();
    await queryRows(stack.databaseUrl, 'create table kept as select 7 as n');
    const servers = [readServer('postgres'), readServer('temporal')];
    expect(readState(folder)).toMatchObject({ pid: owner.pid, databaseUrl: stack.databaseUrl });
    await kill(owner, 'SIGKILL');
    expect(servers.filter(isStillThatProcess)).toEqual(servers);
    expect(readState(folder)).toBeUndefined();

    const next = await start();
    expect(servers.filter(isStillThatProcess)).toEqual([]);
    expect(log.join('\n')).toMatch(/Stopped Temporal, left running.*\nStopped PostgreSQL, left running/);
    expect(await queryRows(next.databaseUrl, 'select n from kept')).toEqual([{ n: 7 }]);
  });

  test('told to end politely, stops its servers and exits with 0', async () => {
    const { owner } = await startOwner();
    const servers = [readServer('postgres'), readServer('temporal')];
    expect(await kill(owner, 'SIGTERM')).toEqual([0, null]);
    expect(servers.filter(isStillThatProcess)).toEqual([]);
    expect(readdirSync(folder)).not.toContain('state.json');
  });

  test('is not mistaken for a stranger that has its pid now', async () => {
    const stranger = spawn('sleep', ['600']);
    cleanups.push(() => stranger.kill('SIGKILL'));
    const record = recordProcess(stranger.pid ?? 0);
    writePrivateJson(join(folder, 'postgres.pid'), { ...record, identity: 'of another start' });
    await stopLeftovers(folder, (line) => log.push(line));
    expect(log).toEqual([]);
    expect(recordProcess(stranger.pid ?? 0)).toEqual(record);
    expect(pidFiles()).toEqual([]);
  });
});

test('the state is for its owner’s eyes, and holds while the owner lives', () => {
  const parts = { temporalAddress: 'a:1', uiUrl: 'http://a:2', databaseUrl: 'postgresql://p:secret@a:3/b' };
  writeState(folder, parts);
  expect(readState(folder)).toMatchObject({ ...parts, pid: process.pid });
  expect(statSync(join(folder, 'state.json')).mode & 0o777).toBe(0o600);
  writePrivateJson(join(folder, 'state.json'), { ...readState(folder), identity: 'of another start' });
  expect(readState(folder)).toBeUndefined();
});

async function start(): Promise<Stack> {
  const stack = await startStack({ folder, log: (line) => log.push(line), postgres: { settings: ['fsync=off'] } });
  cleanups.push(() => stack.stop());
  return stack;
}

/** A stack in a process of its own. */
async function startOwner(): Promise<{ owner: ChildProcess; stack: Stack }> {
  const jiti = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url));
  const script = fileURLToPath(new URL('../support/run-dev.ts', import.meta.url));
  const owner = spawn(process.execPath, [jiti, script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanups.push(() => owner.kill('SIGKILL'));
  const [line] = (await once(createInterface(owner.stdout), 'line')) as [string];
  return { owner, stack: JSON.parse(line) as Stack };
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const ended = once(child, 'exit');
  child.kill(signal);
  return ended;
}

function readServer(name: 'postgres' | 'temporal'): ProcessRecord {
  const record = readPidFile(join(folder, `${name}.pid`));
  if (record === undefined) throw new Error(`There is no ${name}.pid`);
  return record;
}

function pidFiles(): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.pid'));
}

async function queryRows(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function foreignAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    cleanups.push(() => socket.destroy());
  });
}
