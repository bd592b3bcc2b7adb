import { describe, expect, it } from 'vitest';
import type { Plan, PlannedPartition } from '../../src/domain/plan.js';
import type { Progress } from '../../src/domain/progress.js';
import { printBytes } from '../../src/domain/size.js';
import { printCount } from '../../src/report/figures.js';
import { type RunEnd, outcomeLines } from '../../src/report/outcome-text.js';
import { planLines, planSentence } from '../../src/report/plan-text.js';
import { progressBarLine, progressLine, progressMark, statusLines } from '../../src/report/progress-text.js';
import { runListLines } from '../../src/report/run-list-text.js';
import { shellWord } from '../../src/report/shell-word.js';
import { wrap } from '../../src/report/text.js';

function keysFrom(start: string, n: number): string[] {
  return Array.from({ length: n }, (_, i) => new Date(Date.parse(start) + i * 86_400_000).toISOString().slice(0, 10));
}

function partitions(n: number): PlannedPartition[] {
  return keysFrom('2026-03-01', n).map((key, i) => ({
    seq: i + 1,
    key,
    action: 'replace',
    rowsAbout: 7,
    bytes: 16_384,
    generation: 0,
  }));
}

function planOf(n: number, more: Partial<Plan> = {}): Plan {
  return {
    planId: '0f8fad5b-d9cb-469f-a165-70867728950e',
    table: 'mart.daily_revenue',
    from: '2026-03-01',
    to: keysFrom('2026-03-01', n).at(-1) ?? '2026-03-01',
    grain: 'day',
    timeZone: 'UTC',
    options: {
      select: 'all',
      exclude: [],
      concurrency: 1,
      publish: 'in-order',
      onFailure: 'stop',
      allowIncomplete: false,
      allowDefinitionChange: false,
    },
    digest: 'abcdef0123456789',
    definitionDigest: 'd',
    buildDigest: 'b',
    buildSql: "select day,\n  'a  b' as note\nfrom raw.orders",
    strategy: 'delete-insert',
    strategyWhy: null,
    source: null,
    whenEmpty: 'fail',
    checks: ['unique: day, currency', 'row count: 1..'],
    impact: [],
    estimates: [],
    earlier: null,
    lastWrites: [],
    counts: { create: 0, replace: n, leave: 0 },
    warnings: [],
    refusals: [],
    partitions: partitions(n),
    leftAlone: [],
    replaces: null,
    keep: { forMs: 604_800_000, bytes: 49_152, hasCopy: true },
    undoes: null,
    createdAt: '2026-03-15T10:00:00Z',
    requestedBy: 'ada',
    reason: 'currency bug',
    ...more,
  };
}

describe('the text of a plan', () => {
  it('C02 says in words that both ends are included, and lists exactly the partitions', () => {
    const plan = planOf(3);
    expect(planSentence(plan)).toBe(
      'replaces 3 partitions of mart.daily_revenue, 2026-03-01 to 2026-03-03, both included',
    );
    const listed = planLines(plan).flatMap((line) => /^ {2}(\d{4}-\d\d-\d\d) /.exec(line)?.[1] ?? []);
    expect(listed).toEqual(['2026-03-01', '2026-03-02', '2026-03-03']);
  });

  it('counts what is created apart from what is replaced, in the singular too', () => {
    expect(planSentence(planOf(3, { counts: { create: 1, replace: 2, leave: 0 } }))).toContain(
      'creates 1 and replaces 2 partitions of',
    );
    expect(planSentence(planOf(1))).toContain('replaces 1 partition of');
    expect(planSentence(planOf(1, { counts: { create: 0, replace: 0, leave: 1 } }))).toContain(
      'writes no partition of',
    );
  });

  it('marks rows as an estimate, and says where there is none', () => {
    const [first, second] = partitions(2);
    const text = planLines(
      planOf(2, {
        partitions: [
          { ...(first as PlannedPartition), rowsAbout: null },
          { ...(second as PlannedPartition), rowsAbout: 12_345, bytes: 1_572_864, generation: 2 },
        ],
      }),
    );
    expect(text).toContain('  2026-03-01  replace       unknown   16 kB           0');
    expect(text).toContain('  2026-03-02  replace  about 12,345  1.5 MB           2');
  });

  it('shows the first 20 and the last 5 of a long plan', () => {
    const lines = planLines(planOf(40));
    const rows = lines.filter((line) => line.startsWith('  2026'));
    expect(rows).toHaveLength(25);
    expect(lines).toContain('  … and 15 partitions more …');
    expect(rows.at(-1)).toContain('2026-04-09');
  });

  it('shows the end of a plan that is longer than its first page', () => {
    const all = partitions(600);
    const plan = planOf(600, { partitions: all.slice(0, 500) });
    const rows = planLines(plan, all.slice(-5)).filter((line) => /^ {2}20/.test(line));
    expect(rows).toHaveLength(25);
    expect(rows.at(-1)).toContain(plan.to);
  });

  it('groups what is left alone by reason, in ranges that no written partition interrupts', () => {
    const [one, two, three, four, five] = keysFrom('2026-03-01', 5);
    const why = 'protected: audited';
    const plan = planOf(5, {
      counts: { create: 0, replace: 1, leave: 4 },
      partitions: partitions(5).filter(({ key }) => key === three),
      leftAlone: [
        { key: one ?? '', why },
        { key: two ?? '', why },
        { key: four ?? '', why },
        { key: five ?? '', why: 'excluded' },
      ],
    });
    const text = planLines(plan);
    expect(text).toContain('Left alone, 4 partitions of the range:');
    expect(text).toContain('  - protected: audited: 2026-03-01..2026-03-02, 2026-03-04');
    expect(text).toContain('  - excluded: 2026-03-05');
  });

  it('claims no range where partitions behind the page may lie between', () => {
    const plan = planOf(4, {
      counts: { create: 0, replace: 9, leave: 2 },
      partitions: partitions(2),
      leftAlone: [
        { key: '2026-03-08', why: 'excluded' },
        { key: '2026-03-20', why: 'excluded' },
      ],
    });
    expect(planLines(plan)).toContain('  - excluded: 2026-03-08, 2026-03-20');
  });

  it('shows warnings, refusals, the kept keys of a plan taken over, and the query as it is', () => {
    const text = planLines(
      planOf(1, { warnings: ['w'], refusals: ['r'], replaces: { planId: 'old', keysKept: ['2026-02-28'] } }),
    ).join('\n');
    expect(text).toContain('Warnings:\n  - w');
    expect(text).toContain('It would be refused:\n  - r');
    expect(text.replace(/\s+/g, ' ')).toContain(
      'plan old left unfinished. Built by that plan, with its definition, and kept: 2026-02-28.',
    );
    expect(text).toContain("    'a  b' as note\n");
  });

  it('fits 80 columns', () => {
    const plan = planOf(40, { warnings: ['a long warning '.repeat(12)], reason: 'a long reason '.repeat(12) });
    expect(Math.max(...planLines(plan).map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

const running: Progress = {
  state: 'running',
  planId: 'p',
  table: 'mart.daily_revenue',
  from: '2026-03-01',
  to: '2026-03-14',
  total: 14,
  done: 7,
  failed: 0,
  writing: ['2026-03-08'],
  oldestFailed: null,
  rate: 0.21,
  secondsLeft: 33,
  page: keysFrom('2026-03-01', 14).map((key, i) => ({ key, state: i < 7 ? 'done' : i > 7 ? 'waiting' : 'writing' })),
  startedAt: '2026-03-15T10:00:00Z',
  waitingFor: null,
};

describe('the text of progress', () => {
  it('says how many are done, what is written now, rate and time left', () => {
    expect(progressLine(running)).toBe('7 of 14 done, writing 2026-03-08, 12.6/min, 33 s left');
  });

  it('names the oldest failed key', () => {
    const failed = { ...running, failed: 2, oldestFailed: { key: '2026-03-02', type: 'CheckFailed', message: 'm' } };
    expect(progressLine(failed)).toContain('2 failed, oldest 2026-03-02');
  });

  it('fits the bar into the terminal, whatever its width', () => {
    expect(progressBarLine(running, 0)).toBe(progressBarLine(running, 80));
    for (const columns of [20, 60, 80, 200]) {
      expect(progressBarLine(running, columns).length).toBeLessThan(columns);
    }
    expect(progressBarLine(running)).toMatch(/^█{12}░{12} {2}7 of 14 done/);
  });

  it('marks no change when only the clock went on', () => {
    expect(progressMark({ ...running, rate: 9, secondsLeft: 1 })).toBe(progressMark(running));
    expect(progressMark({ ...running, done: 8 })).not.toBe(progressMark(running));
    expect(progressMark({ ...running, writing: [] })).not.toBe(progressMark(running));
  });

  it('draws the calendar', () => {
    expect(statusLines(running)).toContain('  2026-03  ███████▶······');
  });
});

const place = { workflowId: 'backfill/mart.daily_revenue/2026-03-01..2026-03-14', link: 'http://ui', planId: 'p' };

describe('the last words on a run', () => {
  it('of one that completed: partitions, rows before and after, emptied days', () => {
    const result = {
      planId: 'p',
      table: 'mart.daily_revenue',
      from: '2026-03-01',
      to: '2026-03-14',
      partitions: 14,
      changes: { partitions: 13, added: 2, removed: 4, changed: 1000, unchanged: 300 },
      rowsBefore: 1234,
      rowsAfter: 98,
      emptied: [{ key: '2026-03-07', rowsBefore: 7 }],
      keptUntil: '2026-03-22T10:02:33.123Z',
    };
    const lines = outcomeLines({ kind: 'completed', result }, place);
    expect(lines).toContain('  rows      1,234 before, 98 after');
    expect(lines).toContain('  compared  2 added, 4 removed, 1,000 changed, 300 unchanged (in 13 partitions)');
    expect(lines).toContain('  - 2026-03-07 (7 rows before)');
    expect(lines.slice(-2)).toEqual([
      'To put back what it replaced, until 2026-03-22 10:02Z:',
      '  backfill undo backfill/mart.daily_revenue/2026-03-01..2026-03-14',
    ]);
    const unkept = outcomeLines({ kind: 'completed', result: { ...result, keptUntil: null } }, place);
    expect(unkept.join()).not.toContain('undo');
    expect(lines).toContain('  web UI    http://ui');
  });

  it('C10 of one that failed: the oldest failed key, the cause and the exact command', () => {
    const details = {
      planId: 'p',
      oldest: { key: '2026-03-06', type: 'SqlFailed', message: 'duplicate key', sqlstate: '23505' },
      failed: 1,
      done: 5,
      total: 10,
    } as const;
    const lines = outcomeLines({ kind: 'partition-failed', details }, place);
    expect(lines[0]).toBe('Failed at 2026-03-06: duplicate key');
    expect(lines).toContain('  cause   SqlFailed, SQLSTATE 23505');
    expect(lines).toContain('  done    5 of 10; they stay as they were written');
    expect(lines.at(-1)).toBe('  backfill retry backfill/mart.daily_revenue/2026-03-01..2026-03-14');
  });

  it('of one whose last read disagrees: key, recorded and found', () => {
    const details = {
      planId: 'p',
      count: 1,
      differences: [{ key: '2026-03-06', rowsRecorded: 7, rowsFound: 6, rowsOfOthers: 0 }],
    };
    expect(outcomeLines({ kind: 'verification-failed', details }, place)).toContain(
      '  - 2026-03-06: 7 rows recorded, 6 found',
    );
  });

  it.each<RunEnd>([{ kind: 'cancelled' }, { kind: 'ended-from-outside', how: 'terminated' }])(
    'of one that was $kind: how to go on',
    (end) => {
      expect(outcomeLines(end, place).at(-1)).toMatch(/^ {2}backfill retry /);
      expect(outcomeLines(end, { ...place, planId: null }).join()).not.toContain('retry');
    },
  );
});

describe('small texts', () => {
  it('lists a run in two lines, its id alone on the first', () => {
    const run = {
      workflowId: 'w',
      status: 'failed',
      startedAt: '2026-03-15T10:00:00.000Z',
      waitingFor: null,
      closedAt: null,
      planId: null,
      reason: 'why',
      requestedBy: 'ada',
    };
    expect(runListLines([run])).toEqual(['w', '  failed      2026-03-15 10:00Z by ada: why']);
    expect(runListLines([])).toEqual(['No run.']);
  });

  it('quotes for a shell only what needs it', () => {
    expect(shellWord('backfill/mart.t/2026-03-01..2026-03-14')).toBe('backfill/mart.t/2026-03-01..2026-03-14');
    expect(shellWord(`backfill/mart."it's"/a`)).toBe(`'backfill/mart."it'\\''s"/a'`);
  });

  it('prints figures alike in every locale', () => {
    expect([0, 999, 1000, 1_234_567].map(printCount)).toEqual(['0', '999', '1,000', '1,234,567']);
    expect([0, 1023, 1024, 1536, 1_073_741_824].map(printBytes)).toEqual(['0 B', '1023 B', '1 kB', '1.5 kB', '1 GB']);
  });

  it('wraps under the text, and leaves a word whole that is longer than a line', () => {
    expect(wrap('a '.repeat(60), '  - ').every((line) => line.length <= 80)).toBe(true);
    expect(wrap(`x ${'y'.repeat(100)}`, '  ')).toEqual(['  x', `  ${'y'.repeat(100)}`]);
  });
});
