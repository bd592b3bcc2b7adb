import { hostname } from 'node:os';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { quiet } from '../support/harness.js';
import { readHistory, recordHistories, savedHistories } from '../support/replay-histories.js';

/**
 * Runs that were recorded must still be understood by today's workflows. When they are not, runs that are open while a
 * new version is deployed get stuck: change the workflow with `patched()`. Only a version that nobody runs yet may record
 * anew: BACKFILL_RECORD=1 npx vitest run test/replay
 */
if (process.env['BACKFILL_RECORD'] === '1') await recordHistories();

beforeAll(quiet);

function replay(history: unknown): Promise<void> {
  return Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundle') } }, history, 'replayed');
}

const files = savedHistories();
const isSpoiled = (file: string) => file.startsWith('spoiled_');

describe('saved histories', () => {
  it('are there for every behaviour', () => {
    const behaviours = new Set(files.map((file) => file.replace(/(-\d+)?_\d+\.\d+\.\d+\.json$/, '')));
    expect(behaviours).toEqual(
      new Set([
        'cancel',
        'completed',
        'concurrency',
        'failure-and-retry',
        'slices',
        'spoiled_other-order',
        'two-continue-as-news',
      ]),
    );
    expect(files.filter((file) => file.startsWith('two-continue-as-news'))).toHaveLength(3);
  });

  it.each(files)('%s names no machine', (file) => {
    const { text } = readHistory(file);
    expect(text).not.toContain(hostname());
    expect(text).not.toMatch(/"identity": "(?!test"|history-service"|)[^"]*"/);
    expect(text).not.toMatch(/node_modules|file:\/\/|stackTrace/);
  });

  it.each(files.filter((file) => !isSpoiled(file)))('%s replays', async (file) => {
    await replay(readHistory(file).history);
  });

  it.each(files.filter(isSpoiled))('%s is noticed', async (file) => {
    await expect(replay(readHistory(file).history)).rejects.toThrow(DeterminismViolationError);
  });
});
