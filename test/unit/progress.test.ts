import { describe, expect, it, test } from 'vitest';
import {
  type Progress,
  type RunState,
  type Completions,
  addRecent,
  calendarLines,
  estimate,
  printRate,
  printSeconds,
  progressMarkdown,
} from '../../src/domain/progress.js';

const progress: Progress = {
  state: 'running',
  planId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  table: 'mart.daily_revenue',
  from: '2026-02-27',
  to: '2026-03-03',
  total: 5,
  done: 3,
  failed: 0,
  writing: ['2026-03-02'],
  oldestFailed: null,
  rate: 0.5,
  secondsLeft: 4,
  page: [
    { key: '2026-02-27', state: 'done' },
    { key: '2026-02-28', state: 'done' },
    { key: '2026-03-01', state: 'done' },
    { key: '2026-03-02', state: 'writing' },
    { key: '2026-03-03', state: 'waiting' },
  ],
  startedAt: '2026-04-01T00:00:00.000Z',
  waitingFor: null,
};

test.each([
  [0, '0 s'],
  [0.4, '0 s'],
  [42, '42 s'],
  [59.4, '59 s'],
  [59.6, '1 min 00 s'],
  [185, '3 min 05 s'],
  [3599.6, '1 h 00 min'],
  [7800, '2 h 10 min'],
  [360_000, '100 h 00 min'],
])('%d seconds are %s', (seconds, text) => {
  expect(printSeconds(seconds)).toBe(text);
});

test.each([
  [12.34, '12.3/s'],
  [1, '1.0/s'],
  [0.5, '30.0/min'],
  [1 / 60, '1.0/min'],
  [1 / 120, '30.0/h'],
])('%d partitions a second are %s', (rate, text) => {
  expect(printRate(rate)).toBe(text);
});

describe('estimate', () => {
  const unknown = { rate: null, secondsLeft: null };

  const started = [{ at: 1_000, count: 0 }];
  const after = (...moments: number[]) =>
    moments.reduce<readonly Completions[]>((recent, at) => addRecent(recent, { at, count: 1 }), started);

  it('is nothing before the first partition, nor where no time has passed', () => {
    expect(estimate(started, 5)).toEqual(unknown);
    expect(estimate(after(1_000), 5)).toEqual(unknown);
    expect(estimate([], 5)).toEqual(unknown);
  });

  it('goes on at the rate so far', () => {
    expect(estimate(after(1_500, 2_000, 3_000), 9)).toEqual({ rate: 1.5, secondsLeft: 6 });
    expect(estimate(after(2_000), 0)).toEqual({ rate: 1, secondsLeft: 0 });
  });

  it('counts each of many that a busy run hears of at once', () => {
    const recent = after(...Array.from({ length: 32 }, (_, i) => (i < 16 ? 1_500 : 3_000)));
    expect(recent).toHaveLength(3);
    expect(estimate(recent, 160)).toEqual({ rate: 16, secondsLeft: 10 });
  });

  it('counts all of a slice, and nothing where a slice had nothing written', () => {
    expect(addRecent(started, { at: 3_000, count: 0 })).toBe(started);
    expect(estimate(addRecent(started, { at: 3_000, count: 50 }), 100)).toEqual({ rate: 25, secondsLeft: 4 });
  });

  it('forgets what is long past', () => {
    // An outage of an hour, and then ten partitions a second.
    const outage = addRecent([{ at: 0, count: 0 }], { at: 3_600_000, count: 1 });
    const recent = Array.from({ length: 20 }, (_, i) => ({ at: 3_600_000 + (i + 1) * 100, count: 1 })).reduce(
      addRecent,
      outage,
    );
    expect(recent).toHaveLength(11);
    expect(estimate(recent, 100).rate).toBeCloseTo(10);
  });
});

describe('the calendar', () => {
  it('has a line a month and a mark a day', () => {
    expect(calendarLines(progress.page)).toEqual(['2026-02  ██', '2026-03  █▶·']);
  });
  it('shows what failed', () => {
    expect(calendarLines([{ key: '2026-03-09', state: 'failed' }])).toEqual(['2026-03  ✗']);
  });
  it('of nothing is empty', () => {
    expect(calendarLines([])).toEqual([]);
  });
});

describe('the Markdown', () => {
  it('says all of it, with the command that a person can give now', () => {
    expect(progressMarkdown(progress, "backfill/o'brien/2026"))
      .toBe(`**mart.daily_revenue**, 2026-02-27 to 2026-03-03 (both included)

| state | done | failed | writing | rate | time left |
| --- | --- | --- | --- | --- | --- |
| running | 3 of 5 | 0 | 2026-03-02 | 30.0/min | 4 s |

\`\`\`
2026-02  ██
2026-03  █▶·
\`\`\`
█ done  ▶ writing  · waiting  ✗ failed

Cancel it: \`temporal workflow cancel --workflow-id 'backfill/o'\\''brien/2026'\` (what is done stays done)`);
  });

  it('names the oldest failed partition, and quotes all lines of its cause', () => {
    const oldestFailed = { key: '2026-03-02', type: 'SqlFailed', message: 'one\ntwo' };
    const text = progressMarkdown({ ...progress, state: 'failed', failed: 2, oldestFailed }, 'id');
    expect(text).toContain('Oldest failed: **2026-03-02** (SqlFailed)\n\n> one\n> two\n');
    expect(text).toContain("Go on at the first unfinished partition: `backfill retry 'id'`");
  });

  it('shows a dash for what is not known', () => {
    const text = progressMarkdown({ ...progress, writing: [], rate: null, secondsLeft: null }, 'id');
    expect(text).toContain('| running | 3 of 5 | 0 | – | – | – |');
  });

  it.each<[RunState, string]>([
    ['planning', 'temporal workflow cancel'],
    ['running', 'temporal workflow cancel'],
    ['verifying', 'temporal workflow cancel'],
    ['completed', 'read back and found as recorded'],
    ['failed', 'backfill retry'],
    ['cancelled', 'backfill retry'],
  ])('of a run that is %s ends with %s', (state, end) => {
    expect(
      progressMarkdown({ ...progress, state }, 'id')
        .split('\n')
        .at(-1),
    ).toContain(end);
  });
});
