import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ServiceError,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import * as errors from '../../src/client/errors.js';
import { summarize } from '../../src/client/run-summary.js';
import { cutSummary, summaryText } from '../../src/client/summary-text.js';
import { translateError } from '../../src/client/translate.js';
import { InvalidRequest } from '../../src/domain/failure.js';

const about = { address: '127.0.0.1:7233', workflowId: 'run-1' };

function translateFailed(cause: Error): unknown {
  return translateError(new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE'), about);
}

function grpcError(code: number, details = 'd'): Error {
  return Object.assign(new Error(details), { code, details, metadata: { get: () => [] } });
}

const partitionFailed = {
  planId: 'p',
  oldest: { key: '2026-03-06', type: 'SqlFailed', message: 'duplicate key', sqlstate: '23505' },
  failed: 1,
  done: 5,
  total: 10,
};

describe('an error of the client', () => {
  it('C10 names the oldest failed key and the cause, as fields and in its sentence', () => {
    const failure = ApplicationFailure.nonRetryable('some words', 'PartitionFailed', partitionFailed);
    const error = translateFailed(failure);
    expect(error).toBeInstanceOf(errors.PartitionFailed);
    expect(error).toMatchObject({
      name: 'PartitionFailed',
      message: 'Partition 2026-03-06 failed: duplicate key',
      planId: 'p',
      key: '2026-03-06',
      failure: { type: 'SqlFailed', message: 'duplicate key', sqlstate: '23505' },
      failed: 1,
      done: 5,
      total: 10,
      cause: failure,
    });
  });

  it('lists the keys of a last read that disagrees', () => {
    const details = { planId: 'p', count: 1, differences: [{ key: '2026-03-06', rowsRecorded: 7, rowsFound: 6 }] };
    const error = translateFailed(ApplicationFailure.nonRetryable('m', 'VerificationFailed', details));
    expect(error).toBeInstanceOf(errors.VerificationFailed);
    expect(error).toMatchObject(details);
  });

  it.each(errors.refusals)('is a refusal for %s', (type) => {
    const error = translateFailed(ApplicationFailure.nonRetryable('no', type));
    expect(error).toBeInstanceOf(errors.BackfillRefused);
    expect(error).toMatchObject({ type, message: 'no' });
  });

  it('C03 is a refusal for a request that is refused before it is sent', () => {
    expect(translateError(new InvalidRequest('bad'), about)).toMatchObject({ type: 'InvalidRequest', message: 'bad' });
  });

  it('is the failure behind a failed activity', () => {
    const inner = ApplicationFailure.nonRetryable('migrate', 'LedgerOutdated');
    const outer = new ActivityFailure('Activity failed', 'plan', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'me', inner);
    expect(translateFailed(outer)).toMatchObject({
      name: 'BackfillFailed',
      type: 'LedgerOutdated',
      message: 'migrate',
    });
  });

  it('does not trust details that it does not know', () => {
    const error = translateFailed(ApplicationFailure.nonRetryable('m', 'PartitionFailed', { other: 1 }));
    expect(error).toMatchObject({ name: 'BackfillFailed', type: 'PartitionFailed', message: 'm' });
  });

  it('tells cancelled, terminated and timed out apart', () => {
    expect(translateFailed(new CancelledFailure('c'))).toBeInstanceOf(errors.RunCancelled);
    expect(translateFailed(new TerminatedFailure('t'))).toMatchObject({ name: 'RunTerminated', how: 'terminated' });
    const timeout = new TimeoutFailure('t', undefined, 'START_TO_CLOSE');
    expect(translateFailed(timeout)).toMatchObject({ name: 'RunTerminated', how: 'timed-out' });
  });

  it('names a run that is not there, and one that is there already', () => {
    expect(translateError(new WorkflowNotFoundError('n', 'run-1', undefined), about)).toMatchObject({
      name: 'RunNotFound',
      workflowId: 'run-1',
    });
    const already = new WorkflowExecutionAlreadyStartedError('a', 'run-1', 'backfill');
    expect(translateError(already, about)).toBeInstanceOf(errors.BackfillRefused);
  });

  it.each([
    [14, true],
    [4, true],
    [7, false],
    [16, false],
  ])('says of gRPC code %i whether it may pass: %s', (code, isTransient) => {
    const error = translateError(new ServiceError('s', { cause: grpcError(code) }), about);
    expect(error).toMatchObject({ name: 'ServerUnreachable', address: about.address, isTransient });
  });

  it('leaves what it does not know as it is', () => {
    const unknown = new Error('?');
    expect(translateError(unknown, about)).toBe(unknown);
  });
});

describe('what is known of a run', () => {
  it('comes from its memo; what is not there yet is null', () => {
    const info = {
      workflowId: 'w',
      runId: 'r',
      status: { code: 1, name: 'RUNNING' },
      memo: { table: 'a.b', planId: 3 },
      startTime: new Date('2026-03-15T10:00:00Z'),
    } as const;
    expect(summarize(info)).toMatchObject({
      status: 'running',
      table: 'a.b',
      planId: null,
      startedAt: '2026-03-15T10:00:00.000Z',
      closedAt: null,
    });
  });

  it('is summed up in one line that the server accepts', () => {
    expect(summaryText('a.b 1..2', 'fix\n  it')).toBe('a.b 1..2: fix it');
    const cut = cutSummary(summaryText('a.b', 'ü"'.repeat(400)));
    expect(new TextEncoder().encode(JSON.stringify(cut)).length).toBeLessThanOrEqual(400);
    expect(cut.startsWith('a.b: ü"')).toBe(true);
    expect(cut.endsWith('…')).toBe(true);
  });
});
