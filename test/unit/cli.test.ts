import { describe, expect, it } from 'vitest';
import type { CliClient } from '../../src/cli/io.js';
import * as errors from '../../src/client/errors.js';
import {
  closed,
  open,
  partitionFailed,
  plan,
  planId,
  progress,
  pruned,
  range,
  result,
  run,
  workflowId,
} from '../support/cli-world.js';

describe('bad usage', () => {
  it.each([
    ['no such command', ['nonsense']],
    ['no table', ['plan']],
    ['no range', ['plan', 'mart.t']],
    ['an unknown option', ['plan', 'mart.t', '--form', '2026-03-01']],
    ['a selection that is none', ['plan', ...range, '--select', 'some']],
    ['a concurrency that is no number', ['plan', ...range, '--concurrency', '1.5']],
    ['a plan with a range', ['start', '--plan', planId, '--from', '2026-03-01', '--yes']],
    ['neither table nor plan', ['start', '--yes']],
  ])('%s: exit code 2, one sentence, nothing sent', async (_, args) => {
    const { exitCode, stderr, stdout, calls } = await run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^backfill: \S.+\n$/);
    expect(stdout).toBe('');
    expect(calls).toEqual([]);
  });

  it('with --json it is a document, too', async () => {
    const { exitCode, stdout } = await run(['plan', 'mart.t', '--json']);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'refused', error: { name: 'CliRefusal' } });
  });

  it('says its version', async () => {
    expect(await run(['--version'])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it('no command at all shows the help', async () => {
    const { exitCode, stderr } = await run([]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Usage: backfill');
  });
});

describe('help', () => {
  const commands = [
    'plan',
    'start',
    'watch',
    'status',
    'list',
    'cancel',
    'retry',
    'dev',
    'worker',
    'migrate',
    'prune',
    'tables',
    'history',
    'doctor',
    'completion',
  ];

  it.each(commands)('of %s has an example and fits 80 columns', async (name) => {
    const { exitCode, stdout } = await run([name, '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Examples?:\n/);
    expect(stdout).toContain(`backfill ${name}`);
    expect(stdout).toContain('--json');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it.each(['plan', 'start'])('C02 of %s says in words that both ends are included', async (name) => {
    expect((await run([name, '--help'])).stdout).toContain('Both ends of the range are included');
    expect((await run(['--help'])).stdout).toContain('Both ends of a range are included');
  });
});

describe('plan', () => {
  it('sends the request as it was written, with the name of the account', async () => {
    const more = ['--select', 'missing', '--exclude', '2026-03-01, 2026-03-02', '--concurrency', '4'];
    const way = ['--publish', 'any-order', '--on-failure', 'continue', '--allow-incomplete', '--reason', 'bug'];
    const { calls, exitCode } = await run(['plan', ...range, ...more, ...way]);
    expect(exitCode).toBe(0);
    expect(calls[0]).toEqual([
      'plan',
      {
        table: 'mart.daily_revenue',
        from: '2026-03-01',
        to: '2026-03-02',
        select: 'missing',
        exclude: ['2026-03-01', '2026-03-02'],
        concurrency: 4,
        publish: 'any-order',
        onFailure: 'continue',
        allowIncomplete: true,
        reason: 'bug',
        requestedBy: 'ada',
      },
    ]);
    expect(calls.at(-1)).toEqual(['close']);
  });

  it('shows the plan and how to run it; with --json it is the plan', async () => {
    expect((await run(['plan', ...range])).stdout).toContain(`backfill start --plan ${planId}\n`);
    expect(JSON.parse((await run(['plan', ...range, '--json'])).stdout)).toEqual(plan);
  });

  it('exit code 2 for a plan that would be refused', async () => {
    const refusing = { plan: async () => ({ ...plan, refusals: ['the ledger is closed'] }) };
    const { exitCode, stdout } = await run(['plan', ...range], { client: refusing });
    expect(exitCode).toBe(2);
    expect(stdout).toContain('the ledger is closed');
  });
});

describe('start', () => {
  it('plans, runs exactly that plan by its id, watches, and ends with 0', async () => {
    const handle = { describe: [open, closed] };
    const { exitCode, stdout, calls } = await run(['start', ...range, '--yes'], { handle });
    expect(exitCode).toBe(0);
    expect(calls).toContainEqual(['start', { plan: planId, requestedBy: 'ada' }, { workflowId: undefined }]);
    expect(stdout).toContain('1 of 2 done, writing 2026-03-02\n');
    expect(stdout).toContain('Completed: 2 partitions of mart.daily_revenue');
  });

  it('does not start without --yes where nobody can be asked; nothing is sent', async () => {
    const { exitCode, stderr, calls } = await run(['start', ...range]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      'backfill: This is no terminal, so nobody can be asked: add --yes to start without a question\n',
    );
    expect(calls).toEqual([]);
  });

  it('asks on a terminal, and takes no for an answer', async () => {
    const { exitCode, called, stdout } = await run(['start', ...range], { tty: true, answer: false });
    expect(exitCode).toBe(2);
    expect(called).toEqual(['plan', 'confirm', 'close']);
    expect(stdout).toContain('This plan replaces 2 partitions');
  });

  it('asks on a terminal, and starts after a yes', async () => {
    const { exitCode, called } = await run(['start', ...range], { tty: true });
    expect(exitCode).toBe(0);
    expect(called).toEqual(['plan', 'confirm', 'start', 'close']);
  });

  it('--plan runs a stored plan without planning', async () => {
    const { calls, called } = await run(['start', '--plan', planId, '--yes', '--workflow-id', 'mine']);
    expect(called).not.toContain('plan');
    expect(calls).toContainEqual(['start', { plan: planId, requestedBy: 'ada' }, { workflowId: 'mine' }]);
  });

  it('attaches to an open run of the same request', async () => {
    const { exitCode, called, stdout } = await run(['start', ...range, '--yes'], {
      client: { findOpen: async () => open },
    });
    expect(exitCode).toBe(0);
    expect(called).toEqual(['close']);
    expect(stdout).toContain(`Run ${workflowId} is open already`);
  });

  it('is refused while a run with another request is open', async () => {
    const running = new errors.AlreadyRunning({ workflowId, request: '{}', planId: null });
    const { exitCode, stderr } = await run(['start', ...range, '--yes'], {
      client: {
        findOpen: async () => {
          throw running;
        },
      },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(workflowId);
  });

  it('starts nothing that would be refused, and nothing when there is nothing to do', async () => {
    const refusing = { plan: async () => ({ ...plan, refusals: ['the ledger is closed'] }) };
    expect(await run(['start', ...range, '--yes'], { client: refusing })).toMatchObject({
      exitCode: 2,
      called: ['close'],
      stderr: 'backfill: Nothing was started: the ledger is closed\n',
    });
    const empty = { plan: async () => ({ ...plan, counts: { create: 0, replace: 0, leave: 2 }, partitions: [] }) };
    const nothing = await run(['start', ...range, '--yes'], { client: empty });
    expect(nothing).toMatchObject({ exitCode: 0, called: ['close'] });
    expect(nothing.stdout).toMatch(/\nNothing to do: the plan [^]+\.\n$/);
    expect(nothing.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('--detach says where the run is and how to go on', async () => {
    const world = { handle: { describe: [open] }, uiUrl: 'http://127.0.0.1:8233/' };
    const { exitCode, stdout } = await run(['start', ...range, '--yes', '--detach'], world);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`backfill watch ${workflowId}`);
    const link = `http://127.0.0.1:8233/namespaces/default/workflows/${encodeURIComponent(workflowId)}/run-id/history`;
    expect(stdout).toContain(link);
  });

  it('--json prints one document on stdout, and the rest on stderr', async () => {
    const { stdout, stderr } = await run(['start', ...range, '--yes', '--json'], {
      handle: { describe: [open, closed] },
    });
    expect(JSON.parse(stdout)).toEqual({ workflowId, planId, outcome: 'completed', link: null, result });
    expect(stderr).toContain('This plan replaces');
    expect(stderr).toContain('1 of 2 done');
  });
});

describe('the end of a run', () => {
  it('C10 a failed partition: exit code 1, its key, the cause and the command that goes on', async () => {
    const handle = { describe: [open, { ...closed, status: 'failed' as const }], result: partitionFailed() };
    const { exitCode, stdout, stderr } = await run(['start', ...range, '--yes'], { handle });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('Failed at 2026-03-02: duplicate key');
    expect(stdout).toContain(`backfill retry ${workflowId}\n`);
    expect(stderr).toBe('backfill: Partition 2026-03-02 failed: duplicate key\n');
  });

  it('C10 with --json: key and cause are fields', async () => {
    const handle = { result: partitionFailed() };
    const { exitCode, stdout } = await run(['watch', workflowId, '--json'], { handle });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      workflowId,
      planId,
      outcome: 'failed',
      error: { name: 'PartitionFailed', key: '2026-03-02', failure: { sqlstate: '23505' }, done: 1, total: 2 },
    });
  });

  it.each([
    ['refused', new errors.BackfillRefused('PlanDrift', 'the plan is no longer true'), 2],
    ['cancelled', new errors.RunCancelled(workflowId), 3],
    ['terminated', new errors.RunTerminated(workflowId, 'terminated'), 1],
    ['failed outside a partition', new errors.BackfillFailed('LedgerOutdated', 'migrate it'), 1],
    ['other rows at the last read', new errors.VerificationFailed({ planId, count: 1, differences: [] }), 1],
  ])('%s', async (_, error, exitCode) => {
    expect(await run(['watch', workflowId], { handle: { result: error } })).toMatchObject({ exitCode });
  });
});

describe('what is not possible', () => {
  it.each([
    ['no server', { connectError: new errors.ServerUnreachable('a:1', { why: 'no answer', isTransient: true }) }],
    ['no worker', { client: { plan: () => Promise.reject(new errors.NoWorker('backfill')) } }],
    ['a refused request', { client: { plan: () => Promise.reject(new errors.BackfillRefused('UnknownTable', 'no')) } }],
  ])('%s: exit code 2 and one sentence', async (_, world) => {
    const { exitCode, stderr, stdout } = await run(['plan', ...range], world);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^backfill: .+\n$/);
    expect(stdout).toBe('');
  });

  it('no such run: exit code 2', async () => {
    const handle = { describe: [new errors.RunNotFound('x')] };
    for (const command of ['watch', 'status', 'cancel', 'retry']) {
      expect(await run([command, 'x'], { handle })).toMatchObject({
        exitCode: 2,
        stderr: 'backfill: There is no run x\n',
      });
    }
  });

  it('what nobody foresaw is no refusal, and shows no stack', async () => {
    const world = { client: { plan: () => Promise.reject(new Error('two\nlines')) } };
    expect(await run(['plan', ...range], world)).toMatchObject({ exitCode: 1, stderr: 'backfill: two lines\n' });
  });
});

describe('watch', () => {
  it('prints a line for each change, and none for a look without one', async () => {
    const handle = {
      describe: [open, open, open, open, closed],
      progress: [progress, { ...progress, secondsLeft: 3 }, { ...progress, done: 2, writing: [] }],
    };
    const { stdout } = await run(['watch', workflowId], { handle });
    expect(stdout.split('\n').filter((line) => / done/.test(line))).toEqual([
      '1 of 2 done, writing 2026-03-02',
      '2 of 2 done',
    ]);
  });

  it('outlives an absent worker and an absent server, and says each once', async () => {
    const away = new errors.ServerUnreachable('a:1', { why: 'no answer', isTransient: true });
    const noWorker = new errors.NoWorker('backfill');
    const handle = { describe: [open, open, open, away, away, open, closed], progress: [noWorker, noWorker, progress] };
    const { exitCode, stdout } = await run(['watch', workflowId], { handle });
    expect(exitCode).toBe(0);
    expect(stdout.match(/waiting for a worker/g)).toHaveLength(1);
    expect(stdout.match(/waiting for the Temporal server/g)).toHaveLength(1);
  });

  it('does not wait for a server that says no', async () => {
    const denied = new errors.ServerUnreachable('a:1', { why: 'it does not permit this', isTransient: false });
    expect(await run(['watch', workflowId], { handle: { describe: [denied] } })).toMatchObject({ exitCode: 2 });
  });

  it('Ctrl-C ends the watching with 130 and says how to go on', async () => {
    const { exitCode, stdout, called } = await run(['watch', workflowId], {
      handle: { describe: [open] },
      interrupt: true,
    });
    expect(exitCode).toBe(130);
    expect(stdout).toContain(`Run ${workflowId} goes on.`);
    expect(stdout).toContain(`backfill cancel ${workflowId}`);
    expect(called).not.toContain('cancel');
  });

  it('writes control characters to a terminal only', async () => {
    const handle = { describe: [open, closed] };
    const escape = '\u001b';
    expect((await run(['watch', workflowId], { handle, tty: true })).stdout).toContain(escape);
    expect((await run(['watch', workflowId], { handle })).stdout).not.toContain(escape);
    expect((await run(['watch', workflowId, '--json'], { handle, tty: true })).stderr).not.toContain(escape);
  });
});

describe('cancel', () => {
  const cancelled = { ...closed, status: 'cancelled' as const };

  it('asks, waits until the run has ended, and is done when it was cancelled', async () => {
    const handle = { describe: [open, open, cancelled], result: new errors.RunCancelled(workflowId) };
    const { exitCode, called, stdout, stderr } = await run(['cancel', workflowId], { handle });
    expect(exitCode).toBe(0);
    expect(called).toEqual(['cancel', 'close']);
    expect(stdout).toContain('Cancelled. What was done stays done.');
    expect(stderr).toBe('');
  });

  it('--detach does not wait', async () => {
    expect(await run(['cancel', workflowId, '--detach'], { handle: { describe: [open] } })).toMatchObject({
      exitCode: 0,
    });
  });

  it('is refused for a run that has ended', async () => {
    expect(await run(['cancel', workflowId])).toMatchObject({ exitCode: 2, called: ['close'] });
  });
});

describe('undo', () => {
  it('plans the undo of the plan of a run, shows it, and starts exactly that', async () => {
    const { exitCode, calls, stdout } = await run([
      'undo',
      workflowId,
      '--to',
      '2026-03-02',
      '--reason',
      'wrong',
      '--yes',
    ]);
    expect(exitCode).toBe(0);
    expect(calls).toContainEqual(['plan', { undo: planId, to: '2026-03-02', reason: 'wrong', requestedBy: 'ada' }]);
    expect(calls).toContainEqual(['start', { plan: plan.planId, reason: 'wrong', requestedBy: 'ada' }, undefined]);
    expect(stdout).toContain('  kept ');
  });

  it('takes the id of a plan, too, and starts nothing with --plan-only', async () => {
    const { exitCode, calls } = await run(['undo', planId, '--plan-only']);
    expect(exitCode).toBe(0);
    expect(calls.map(([name]) => name)).toEqual(['plan', 'close']);
    expect(calls[0]?.[1]).toEqual({ undo: planId, requestedBy: 'ada' });
  });

  it('starts nothing where nobody can be asked, where the run has no plan, or where the plan is refused', async () => {
    expect(await run(['undo', workflowId])).toMatchObject({ exitCode: 2, calls: [] });
    const unplanned = { handle: { describe: [{ ...closed, planId: null }] } };
    expect(await run(['undo', workflowId, '--yes'], unplanned)).toMatchObject({ exitCode: 2 });
    const refused = { client: { plan: async () => ({ ...plan, refusals: ['2026-03-01: was written since'] }) } };
    const { exitCode, stdout, stderr, calls } = await run(['undo', workflowId, '--yes'], refused);
    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [['close']] });
    expect(stdout + stderr).toContain('2026-03-01: was written since');
  });
});

describe('retry', () => {
  const failed = { ...closed, status: 'failed' as const };

  it('C11 goes on under the same plan without a question', async () => {
    const { exitCode, calls } = await run(['retry', workflowId, '--reason', 'again'], {
      handle: { describe: [failed] },
    });
    expect(exitCode).toBe(0);
    expect(calls).toContainEqual(['retry', { reason: 'again', requestedBy: 'ada' }]);
  });

  it('--replan plans anew, shows the kept keys, and runs that plan under the same name', async () => {
    const newPlan = { ...plan, planId: 'new', replaces: { planId, keysKept: ['2026-02-28'] } };
    const planned: unknown[] = [];
    const client: Partial<CliClient> = { plan: async (request) => (planned.push(request), newPlan) };
    const world = { handle: { describe: [failed] }, client };
    const { exitCode, stdout, calls } = await run(['retry', workflowId, '--replan', '--yes'], world);
    expect(exitCode).toBe(0);
    expect(planned).toEqual([{ plan: planId, replan: true, requestedBy: 'ada' }]);
    expect(stdout).toContain('2026-02-28');
    expect(calls).toContainEqual(['start', { plan: 'new', requestedBy: 'ada' }, { workflowId }]);
  });

  it('is refused for a run that has completed, or was never planned', async () => {
    expect(await run(['retry', workflowId])).toMatchObject({ exitCode: 2 });
    const unplanned = { handle: { describe: [{ ...failed, planId: null }] } };
    expect(await run(['retry', workflowId, '--replan', '--yes'], unplanned)).toMatchObject({ exitCode: 2 });
  });
});

describe('status and list', () => {
  it('status of an open run shows its progress, of another how it ended; both exit with 0', async () => {
    const running = await run(['status', workflowId], { handle: { describe: [open] } });
    expect(running).toMatchObject({ exitCode: 0 });
    expect(running.stdout).toContain('writing    2026-03-02');
    const failed = { describe: [{ ...closed, status: 'failed' as const }], result: partitionFailed() };
    const ended = await run(['status', workflowId], { handle: failed });
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.stdout).toContain('Failed at 2026-03-02');
  });

  it('status says what the server knows when no worker answers, and exits with 2', async () => {
    const handle = { describe: [open], progress: [new errors.NoWorker('backfill')] };
    const { exitCode, stdout, stderr } = await run(['status', workflowId], { handle });
    expect(exitCode).toBe(2);
    expect(stdout).toContain('running');
    expect(stderr).toContain('No worker answers on task queue backfill');
  });

  it('list prints ids that can be copied', async () => {
    expect((await run(['list'])).stdout.split('\n')).toContain(workflowId);
    expect(JSON.parse((await run(['list', '--json'])).stdout)).toEqual({ runs: [closed] });
  });
});

describe('prune', () => {
  const span = ['--older-than', '90 days'];

  it('shows what goes, asks, and deletes exactly what was shown', async () => {
    const { calls, exitCode, stdout } = await run(['prune', ...span], { tty: true, answer: true });
    expect(exitCode).toBe(0);
    expect(calls.filter(([name]) => name === 'prune').map(([, request]) => request)).toEqual([
      { olderThan: '90 days', dryRun: true },
      { before: '2026-01-01T00:00:00.000Z' },
    ]);
    expect(stdout).toContain('Rows of the ledger from before 2026-01-01 00:00Z that can go:');
    expect(stdout).toContain('  partitions of plans  14,000\n');
    expect(stdout).toContain('Deleted of the ledger from before 2026-01-01 00:00Z:');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('deletes nothing in a dry run, after a no, or where nobody can be asked', async () => {
    const dry = await run(['prune', ...span, '--dry-run', '--json']);
    expect(dry.exitCode).toBe(0);
    expect(JSON.parse(dry.stdout)).toEqual({ outcome: 'completed', ...pruned(true) });
    const no = await run(['prune', ...span], { tty: true, answer: false });
    expect(no.exitCode).toBe(2);
    const nobody = await run(['prune', ...span]);
    expect(nobody.exitCode).toBe(2);
    expect(nobody.stderr).toContain('--yes');
    for (const { calls } of [dry, no, nobody]) {
      expect(calls.filter(([name]) => name === 'prune').every(([, request]) => isDry(request))).toBe(true);
    }
  });
});

function isDry(request: unknown): boolean {
  return (request as { readonly dryRun?: boolean }).dryRun === true;
}
