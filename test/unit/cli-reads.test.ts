import { describe, expect, it } from 'vitest';
import * as errors from '../../src/client/errors.js';
import type { RunFilter } from '../../src/client/list-runs.js';
import {
  closed,
  entry,
  failure,
  findings,
  open,
  partitionFailed,
  partitions,
  planId,
  progress,
  range,
  run,
  tableState,
  workflowId,
} from '../support/cli-world.js';

const ESCAPE = '\u001b';

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

describe('tables', () => {
  it('shows the definition, the state in the database and the open run', async () => {
    const { exitCode, stdout } = await run(['tables']);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        'mart.daily_revenue',
        '  about       Revenue a day',
        '  owner       finance',
        '  partitions  3, one every day, 2026-03-01 to 2026-03-03; by day, UTC',
        '  written     1 current, 1 outdated, 1 failed',
        `  open run    ${workflowId} (2026-03-01 to`,
        '              2026-03-02, by ada)',
        '  definition  abcdef012345',
        '',
      ].join('\n'),
    );
  });

  it('says when the local file is edited, not deployed, and goes on without one that cannot be loaded', async () => {
    const digests = new Map([
      ['mart.daily_revenue', 'another'],
      ['mart.new', 'd'],
    ]);
    const compared = await run(['tables'], { local: { file: 'backfill.config.ts', problem: null, digests } });
    expect(compared.stdout).toContain('edited, not deployed');
    expect(compared.stdout).toContain('mart.new\n  local file  not deployed');
    const same = {
      file: 'backfill.config.ts',
      problem: null,
      digests: new Map([['mart.daily_revenue', tableState.digest]]),
    };
    expect((await run(['tables'], { local: same })).stdout).toContain("local file  as the worker's");
    const broken = { file: 'backfill.config.ts', problem: 'no such module', digests: new Map<string, string>() };
    const { exitCode, stdout } = await run(['tables'], { local: broken });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Not compared with a local file: no such module');
  });

  it('reads all pages', async () => {
    const pages = [
      { tables: [tableState], next: 1 },
      { tables: [{ ...tableState, name: 'mart.other' }], next: null },
    ];
    const { stdout } = await run(['tables'], {
      client: { readTables: async (page) => pages[page?.after ?? 0] ?? { tables: [], next: null } },
    });
    expect(stdout).toContain('mart.other');
  });

  it('says so when no worker answers', async () => {
    const client = { readTables: () => Promise.reject(new errors.NoWorker('backfill')) };
    expect(await run(['tables'], { client })).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('history', () => {
  it('says who wrote what when, and which partitions are outdated; without colour or calendar in a pipe', async () => {
    const { exitCode, stdout, calls } = await run(['history', 'mart.daily_revenue']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('outdated, 1: 2026-03-02');
    expect(stdout).toContain(workflowId);
    expect(stdout).toMatch(/2026-03-02 {2}2026-03-15 10:00Z {2}replaced +7 +7 +1 {2}outdated\n/);
    expect(stdout).not.toContain(ESCAPE);
    expect(stdout).not.toContain('█');
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    expect(calls).toContainEqual(['readHistory', 'mart.daily_revenue', {}]);
  });

  it('draws a calendar on a terminal, with colour unless NO_COLOR says no', async () => {
    expect((await run(['history', 'mart.daily_revenue'], { tty: true })).stdout).toContain(ESCAPE);
    const { stdout } = await run(['history', 'mart.daily_revenue'], { tty: true, env: { NO_COLOR: '1' } });
    expect(stdout).not.toContain(ESCAPE);
    expect(stdout).toContain('  2026-03  █▒✗\n');
    expect(stdout).toContain('█ current  ▒ outdated  ✗ failed');
  });

  it('keeps three years of days within 80 columns, a line a month', async () => {
    const day = (i: number) => new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10);
    const [first] = partitions;
    if (!first) throw new Error('no partition');
    const days = Array.from({ length: 1096 }, (_, i) => ({
      ...first,
      key: day(i),
      state: i % 2 ? ('outdated' as const) : ('unrecorded' as const),
    }));
    const client = { readPartitions: async (table: string) => ({ table, partitions: days, next: null }) };
    const { stdout } = await run(['history', 'mart.t'], { client, tty: true, env: { NO_COLOR: '1' } });
    const months = stdout.split('\n').filter((line) => /^ {2}\d{4}-\d{2} {2}[·▒]+$/.test(line));
    expect(months).toHaveLength(36);
    expect(months[1]).toBe(`  2024-02  ${'▒·'.repeat(14)}▒`);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(/outdated, 548: 2024-01-02, 2024-01-04,[^]+ and 528 more \(all: --json\)\n/);
    expect(stdout.split('\n').length).toBeLessThan(36 + 24);
  });

  it('of a day that has no partition it says so', async () => {
    const client = { readHistory: async (table: string) => ({ table, entries: [], next: null }) };
    const { stdout } = await run(['history', 'mart.t', '--key', '2029-03-07'], { client });
    expect(stdout).toBe('There is no partition.\n\nThis software has written nothing here yet.\n');
  });

  it('puts every day at its own place', async () => {
    const [first, , third] = partitions;
    const client = {
      readPartitions: async (table: string) => ({
        table,
        partitions: [first, third].flatMap((one) => one ?? []),
        next: null,
      }),
    };
    const { stdout } = await run(['history', 'mart.t'], { client, tty: true, env: { NO_COLOR: '1' } });
    expect(stdout).toContain('  2026-03  █ ✗\n');
  });

  it('--key asks for all generations of one partition; --limit ends the reading', async () => {
    const generations = [3, 2, 1].map((generation) => ({ ...entry, generation, isCurrent: generation === 3 }));
    const asked: unknown[] = [];
    const client = {
      readHistory: async (table: string, page = {}) => {
        asked.push(page);
        return { table, entries: generations, next: { committedAt: 't', key: entry.key, generation: 1 } };
      },
    };
    const { stdout } = await run(['history', 'mart.t', '--key', entry.key, '--limit', '2', '--json'], { client });
    expect(asked).toEqual([{ key: entry.key }]);
    const said = JSON.parse(stdout) as { entries: unknown[]; partitions: { key: string }[] };
    expect(said.entries).toEqual(generations.slice(0, 2));
    expect(said.partitions.map(({ key }) => key)).toEqual([entry.key]);
  });
});

describe('a mistyped name gets a suggestion', () => {
  const notFound = { describe: [new errors.RunNotFound(`${workflowId}3`)] };

  it.each(['status', 'watch', 'cancel', 'retry'])('%s: the run that was meant', async (command) => {
    const { exitCode, stderr } = await run([command, `${workflowId}3`], { handle: notFound });
    expect(exitCode).toBe(2);
    expect(stderr).toBe(`backfill: There is no run ${workflowId}3; did you mean ${workflowId}?\n`);
  });

  it('a server that lists nothing is no second error', async () => {
    const client = {
      // oxlint-disable-next-line require-yield
      list: async function* (): AsyncGenerator<never> {
        throw new Error('not permitted');
      },
    };
    const { stderr } = await run(['status', `${workflowId}3`], { handle: notFound, client });
    expect(stderr).toBe(`backfill: There is no run ${workflowId}3\n`);
  });

  it('list: the table of which there are runs', async () => {
    const client = {
      list: async function* ({ table }: RunFilter = {}) {
        if (table === undefined || table === closed.table) yield closed;
      },
    };
    const mistyped = await run(['list', '--table', 'mart.daily_revenu', '--json'], { client });
    expect(mistyped).toMatchObject({
      exitCode: 0,
      stdout: '{\n  "runs": []\n}\n',
      stderr: 'backfill: no run is of mart.daily_revenu; did you mean mart.daily_revenue?\n',
    });
    expect((await run(['list', '--table', 'mart.daily_revenue'], { client })).stderr).toBe('');
  });

  it('a table that has runs, none of them in that state, is not mistyped', async () => {
    const client = {
      list: async function* ({ status }: RunFilter = {}) {
        if (status === undefined) yield closed;
      },
    };
    const args = ['list', '--table', 'mart.daily_revenue', '--state', 'failed'];
    expect(await run(args, { client })).toMatchObject({ stdout: 'No run.\n', stderr: '' });
  });
});

describe('list', () => {
  it('hands its filters on, and ends at its limit', async () => {
    const filters: RunFilter[] = [];
    const client = {
      list: async function* (filter: RunFilter = {}) {
        filters.push(filter);
        for (let i = 0; i < 9; i++) yield { ...closed, workflowId: `run-${i}` };
      },
    };
    const args = ['list', '--table', 'mart.t', '--state', 'failed', '--since', '2026-03-01', '--limit', '3', '--json'];
    const { stdout } = await run(args, { client });
    expect((JSON.parse(stdout) as { runs: unknown[] }).runs).toHaveLength(3);
    expect(filters).toEqual([{ table: 'mart.t', status: 'failed', since: new Date('2026-03-01T00:00:00Z') }]);
  });

  it('--since may be a span', async () => {
    const { calls } = await run(['list', '--since', '7 days']);
    const [, filter] = calls.find(([name]) => name === 'list') ?? [];
    const since = (filter as RunFilter).since?.getTime() ?? 0;
    expect(Math.abs(Date.now() - 7 * 86_400_000 - since)).toBeLessThan(60_000);
    expect(await run(['list', '--since', 'yesterday'])).toMatchObject({ exitCode: 2 });
  });
});

describe('status --failed', () => {
  it('shows every failure whole, through all pages', async () => {
    const long = { ...failure, key: '2026-03-03', message: `raised ${'x '.repeat(4000)}end` };
    const client = {
      readFailures: async (_: string, { after }: { after?: number } = {}) =>
        after === undefined ? { failures: [failure], next: 7 } : { failures: [long], next: null },
    };
    const handle = { describe: [{ ...closed, status: 'failed' as const }], result: partitionFailed() };
    const { exitCode, stdout } = await run(['status', workflowId, '--failed'], { client, handle });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('2 failed partitions:');
    expect(stdout).toContain('unique: day, currency');
    expect(stdout).toContain('day=2026-03-02, currency=EUR');
    expect(stdout.match(/\bx\b/g)).toHaveLength(4000);
    expect(stdout).toContain('2026-03-15 10:00Z');
  });

  it('of a run without a plan there are none', async () => {
    const handle = { describe: [{ ...closed, planId: null }] };
    const { stdout } = await run(['status', workflowId, '--failed', '--json'], { handle });
    expect(JSON.parse(stdout)).toMatchObject({ failures: [] });
  });
});

describe('--on-overlap', () => {
  it('goes into the request of plan, start and retry, and is no part of a stored plan', async () => {
    const { calls } = await run(['plan', ...range, '--on-overlap', 'wait']);
    expect(calls[0]?.[1]).toMatchObject({ onOverlap: 'wait' });
    const started = await run(['start', '--plan', planId, '--on-overlap', 'wait', '--yes']);
    const asked = { plan: planId, requestedBy: 'ada', onOverlap: 'wait' };
    expect(started.calls).toContainEqual(['start', asked, { workflowId: undefined }]);
    const failed = { describe: [{ ...closed, status: 'failed' as const }] };
    const retried = await run(['retry', workflowId, '--on-overlap', 'wait'], { handle: failed });
    expect(retried.calls).toContainEqual(['retry', { requestedBy: 'ada', onOverlap: 'wait' }]);
    expect(await run(['plan', ...range, '--on-overlap', 'maybe'])).toMatchObject({ exitCode: 2 });
  });

  it('watch and status say what a run waits for', async () => {
    const waiting = { ...progress, state: 'waiting' as const, waitingFor: 'it is being written by other-run' };
    const handle = { describe: [open, open, closed], progress: [waiting, progress] };
    const watched = await run(['watch', workflowId], { handle });
    expect(watched.stdout).toContain('waiting: it is being written by other-run\n');
    expect(watched.stdout).toContain('1 of 2 done');
    const status = await run(['status', workflowId], { handle: { describe: [open], progress: [waiting] } });
    expect(status.stdout).toContain('both included: waiting\n');
    expect(status.stdout).toContain('it is being written by other-run');
  });
});

describe('doctor', () => {
  it('shows every finding with its remedy and the SQL to run, and exits with 1 for a problem', async () => {
    const { exitCode, stdout } = await run(['doctor']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('ok       Temporal: Server 1.31.2');
    expect(stdout).toContain('problem  mart.daily_revenue: The worker may not');
    expect(stdout).toContain('grant insert, delete on table "mart"."daily_revenue" to loader;\n');
    expect(stdout).toContain('1 problem.');
  });

  it('exits with 0 where there are warnings at most', async () => {
    const warned = { check: 'pooler', level: 'warning', found: 'a pooler', remedy: 'Nothing.', sql: [] } as const;
    const client = { doctor: async () => [...findings.slice(0, 1), warned] };
    expect(await run(['doctor'], { client })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('1 warning'),
    });
  });

  it('a server that is not there is a finding', async () => {
    const connectError = new errors.ServerUnreachable('a:1', { why: 'no answer', isTransient: true });
    const { exitCode, stdout, stderr } = await run(['doctor'], { connectError });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('problem  Temporal: Temporal at a:1 cannot be used: no answer');
    expect(stdout).toContain('TEMPORAL_ADDRESS');
    expect(stderr).toBe('');
  });

  it('takes a table and a range', async () => {
    const { calls } = await run(['doctor', 'mart.t', '--from', '2026-03-01', '--to', '2026-03-02']);
    expect(calls).toContainEqual(['doctor', { table: 'mart.t', from: '2026-03-01', to: '2026-03-02' }]);
    expect(await run(['doctor', '--from', '2026-03-01'])).toMatchObject({ exitCode: 2, calls: [] });
    const half = await run(['doctor', 'mart.t', '--from', '2026-03-01']);
    expect(half).toMatchObject({ exitCode: 2, calls: [], stderr: expect.stringContaining('belong together') });
  });
});

describe('a mistyped word', () => {
  it.each([
    [['strat'], 'start'],
    [['histroy', 'mart.t'], 'history'],
    [['plan', 'mart.t', '--form', '2026-03-01'], '--from'],
  ])('%j: did you mean %s?', async (args, meant) => {
    const { exitCode, stderr } = await run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`Did you mean ${meant}?`);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) => (await run(['__complete', ...words])).stdout.split('\n').slice(0, -1);

  it.each(['bash', 'zsh', 'fish'])('prints a script for %s that asks us', async (shell) => {
    const { exitCode, stdout } = await run(['completion', shell]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('backfill __complete ');
  });

  it('knows commands, options and their values', async () => {
    expect(await complete('st')).toEqual(['start', 'status']);
    expect(await complete('')).toEqual(expect.arrayContaining(['plan', 'doctor', 'help']));
    expect(await complete('')).not.toContain('__complete');
    expect(await complete('start', '--on')).toEqual(['--on-failure', '--on-overlap']);
    expect(await complete('start', 'mart.t', '--select', 'missing')).toEqual(['missing', 'missing-or-empty']);
    expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await complete('start', '--from', '')).toEqual([]);
    expect(await complete('nonsense', '')).toEqual(expect.arrayContaining(['plan']));
  });

  it('knows tables and runs of the live worker', async () => {
    for (const words of [
      ['plan', 'ma'],
      ['history', ''],
      ['plan', '--from', '2026-03-01', ''],
      ['list', '--table', ''],
    ]) {
      expect(await complete(...words)).toEqual(['mart.daily_revenue']);
    }
    expect(await complete('plan', 'mart.daily_revenue', '')).toEqual([]);
    for (const command of ['watch', 'status', 'cancel', 'retry'])
      expect(await complete(command, 'back')).toEqual([workflowId]);
  });

  it('names a range that was run twice once', async () => {
    const client = {
      list: async function* () {
        yield* [closed, { ...closed, runId: 'an earlier one' }];
      },
    };
    const { stdout } = await run(['__complete', 'status', ''], { client });
    expect(stdout).toBe(`${workflowId}\n`);
  });

  it('is silent, and soon, where nobody answers', async () => {
    const connectError = new errors.ServerUnreachable('a:1', { why: 'no answer', isTransient: true });
    const gone = await run(['__complete', 'plan', ''], { connectError });
    expect(gone).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    const start = performance.now();
    const never = await run(['__complete', 'plan', ''], { client: { readTables: () => new Promise(() => {}) } });
    expect(never).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(performance.now() - start).toBeLessThan(1_500);
  });
});
