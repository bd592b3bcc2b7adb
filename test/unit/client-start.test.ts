import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { AlreadyRunning, NoWorker } from '../../src/client/errors.js';
import { runHelper } from '../../src/client/helper-workflow.js';
import type { Session } from '../../src/client/session.js';
import { type Sameness, findSame, startRun } from '../../src/client/start-run.js';

const workflowId = 'backfill/mart.t/2026-03-01..2026-03-02';
const run = { workflowId, input: { plan: 'p' }, memo: { planId: 'p' }, summary: 'mart.t' };

interface OpenRun {
  readonly name: 'RUNNING' | 'FAILED';
  readonly memo?: Record<string, unknown>;
}

/** What the server answers. Each look at the run takes the next of `open`; the last stays. */
interface Server {
  readonly pollers: number;
  readonly open?: readonly OpenRun[];
  readonly historyLength?: number;
  readonly conflicts?: number;
}

function sessionWith({ pollers, open = [], historyLength = 3, conflicts = 0 }: Server) {
  const calls: string[] = [];
  const started: unknown[] = [];
  let [conflictsLeft, looks] = [conflicts, 0];
  const handle = {
    workflowId,
    async describe() {
      const seen = open[Math.min(looks++, open.length - 1)] ?? { name: 'RUNNING' as const };
      if (open.length === 0 && started.length === 0) throw new WorkflowNotFoundError('none', workflowId, undefined);
      const status = { code: 1, name: seen.name };
      return { workflowId, runId: 'r', status, memo: seen.memo, historyLength, startTime: new Date(0) };
    },
    terminate: async () => void calls.push('terminate'),
    result: async () => 'answer',
  };
  const workflow = {
    async start(_type: string, options: unknown) {
      calls.push('start');
      if (conflictsLeft-- > 0) throw new WorkflowExecutionAlreadyStartedError('already', workflowId, 'backfill');
      started.push(options);
      return handle;
    },
    getHandle: () => handle,
  };
  const client = {
    workflow,
    options: { namespace: 'default' },
    workflowService: { describeTaskQueue: async () => ({ pollers: Array.from({ length: pollers }) }) },
    connection: { withDeadline: (_deadline: number, send: () => Promise<unknown>) => send() },
  };
  const session = {
    client,
    address: 'a:1',
    taskQueue: 'own-queue',
    close: async () => undefined,
  } as unknown as Session;
  return { session, calls, started };
}

describe('starting a run', () => {
  it('allows the name to be used again after the end, never at once', async () => {
    const { session, started } = sessionWith({ pollers: 1 });
    await startRun(session, run, { planId: 'p' });
    expect(started).toMatchObject([
      {
        workflowId,
        taskQueue: 'own-queue',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
      },
    ]);
  });

  it('sends nothing where no worker polls', async () => {
    const { session, calls } = sessionWith({ pollers: 0 });
    await expect(startRun(session, run, { planId: 'p' })).rejects.toMatchObject({ name: 'NoWorker', waitingRun: null });
    expect(calls).toEqual([]);
  });

  it('leaves the run open when a worker that is listed does not take it up, and says so', async () => {
    const { session, calls } = sessionWith({ pollers: 1, historyLength: 2 });
    const began = Date.now();
    await expect(startRun(session, run, { planId: 'p' })).rejects.toMatchObject({
      name: 'NoWorker',
      waitingRun: workflowId,
    });
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(calls).toEqual(['start']);
  });

  it.each<[string, Sameness, Record<string, unknown>]>([
    ['the same plan', { planId: 'p' }, { planId: 'p', request: 'other' }],
    ['the same request', { request: 'r' }, { planId: 'q', request: 'r' }],
  ])('attaches to the open run of %s', async (_, sameness, memo) => {
    const { session, started } = sessionWith({ pollers: 1, conflicts: 1, open: [{ name: 'RUNNING', memo }] });
    await expect(startRun(session, run, sameness)).resolves.toMatchObject({ workflowId });
    expect(started).toEqual([]);
  });

  it.each<[string, Sameness]>([
    ['another plan', { planId: 'other' }],
    ['another request', { request: 'other' }],
    ['a plan made anew', undefined],
  ])('is refused while the open run is not of %s', async (_, sameness) => {
    const open = [{ name: 'RUNNING', memo: { planId: 'p', request: 'r' } }] as const;
    const { session } = sessionWith({ pollers: 1, conflicts: 1, open });
    const refused = await startRun(session, run, sameness).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AlreadyRunning);
    expect(refused).toMatchObject({ type: 'Overlap', workflowId, planId: 'p', request: 'r' });
  });

  it('waits until a run that is still planning says what it was asked for', async () => {
    const open = [{ name: 'RUNNING' }, { name: 'RUNNING', memo: { request: 'r' } }] as const;
    const { session } = sessionWith({ pollers: 1, conflicts: 1, open });
    await expect(startRun(session, run, { request: 'r' })).resolves.toMatchObject({ workflowId });
  });

  it('starts when the open run has ended meanwhile', async () => {
    const { session, calls } = sessionWith({ pollers: 1, conflicts: 1, open: [{ name: 'FAILED' }] });
    await startRun(session, run, { planId: 'p' });
    expect(calls).toEqual(['start', 'start']);
  });

  it('finds no open run where there is none, or it has ended', async () => {
    expect(await findSame(sessionWith({ pollers: 1 }).session, workflowId, { planId: 'p' })).toBeUndefined();
    const ended = sessionWith({ pollers: 1, open: [{ name: 'FAILED', memo: { planId: 'p' } }] });
    expect(await findSame(ended.session, workflowId, { planId: 'p' })).toBeUndefined();
  });
});

describe('a question to a worker', () => {
  const helper = { type: 'plan', workflowId: 'backfill-plan/x', input: {}, timeoutMs: 1000, summary: 'plan' };

  it('is answered', async () => {
    expect(await runHelper(sessionWith({ pollers: 1 }).session, helper)).toBe('answer');
  });

  it('is withdrawn when nobody takes it up', async () => {
    const { session, calls } = sessionWith({ pollers: 1, historyLength: 2 });
    await expect(runHelper(session, helper)).rejects.toBeInstanceOf(NoWorker);
    expect(calls).toEqual(['start', 'terminate']);
  });
});
