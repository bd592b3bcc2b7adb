import { ApplicationFailure, CancelledFailure, ContinueAsNew } from '@temporalio/workflow';
import { expect, test } from 'vitest';
import { asRunFailure } from '../../src/workflows/failures.js';

test.each([
  ['a cancel', new CancelledFailure('cancelled')],
  ['a workflow that continues as new', new ContinueAsNew({ workflowType: 'prune' })],
])('%s is no failure of the run', (_what, thrown) => {
  expect(asRunFailure(thrown)).toBe(thrown);
});

test('a failure of an activity becomes that of the run, type and words', () => {
  const cause = ApplicationFailure.create({ type: 'PlanDrift', message: 'it changed', details: [] });
  const failure = asRunFailure(Object.assign(new Error('Activity task failed'), { cause }));
  expect(failure).toMatchObject({ type: 'PlanDrift', message: 'it changed', nonRetryable: true });
});
