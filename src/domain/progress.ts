/** The state of one partition within a run. */
export type PartitionState = 'waiting' | 'writing' | 'done' | 'failed';

/** The state of a run, as its query and its search attribute say it. */
export type RunState = 'planning' | 'waiting' | 'running' | 'verifying' | 'completed' | 'failed' | 'cancelled';

/** The answer of the query `progress`. */
export interface Progress {
  readonly state: RunState;
  /** Null until the plan is stored. */
  readonly planId: string | null;
  readonly table: string;
  readonly from: string;
  readonly to: string;
  /** Partitions of the plan. */
  readonly total: number;
  /** Written by this plan, those of earlier executions included. */
  readonly done: number;
  readonly failed: number;
  /** Keys being written now, oldest first. */
  readonly writing: readonly string[];
  readonly oldestFailed: { readonly key: string; readonly type: string; readonly message: string } | null;
  /** Partitions per second, of late; null before the first is done. */
  readonly rate: number | null;
  readonly secondsLeft: number | null;
  /** The partitions of the current page, oldest first: at most 500. */
  readonly page: readonly { readonly key: string; readonly state: PartitionState }[];
  /** ISO 8601. */
  readonly startedAt: string;
  /** What the run waits for before it begins; null where it does not. */
  readonly waitingFor: string | null;
}

/** A moment in milliseconds, and how many partitions were done at it: a busy run hears of several at once. */
export interface Completions {
  readonly at: number;
  readonly count: number;
}

/** Moments by which a rate is told: old ones say little, and an outage must be forgotten again. */
const RECENT = 10;

/** Adds completions to the recent ones, oldest first. Before the first ever stands the start of the run. */
export function addRecent(recent: readonly Completions[], { at, count }: Completions): readonly Completions[] {
  if (count === 0) return recent;
  const last = recent.at(-1);
  if (last?.at === at) return [...recent.slice(0, -1), { at, count: last.count + count }];
  return [...recent, { at, count }].slice(-RECENT - 1);
}

/** Rate and time left, by the recent completions. */
export function estimate(recent: readonly Completions[], left: number): Pick<Progress, 'rate' | 'secondsLeft'> {
  const [first, ...later] = recent;
  const elapsedMs = (later.at(-1)?.at ?? 0) - (first?.at ?? 0);
  if (elapsedMs <= 0) return { rate: null, secondsLeft: null };
  const rate = (later.reduce((sum, { count }) => sum + count, 0) / elapsedMs) * 1000;
  return { rate, secondsLeft: left / rate };
}

/** One character a partition. Plain text, so that it reads the same in a terminal and in the Web UI. */
const marks = { waiting: '·', writing: '▶', done: '█', failed: '✗' } satisfies Record<PartitionState, string>;

/** A line for each group of keys (a month of days): `2026-03  ████▶·········`. */
export function calendarLines(page: Progress['page']): string[] {
  const lines = new Map<string, string>();
  for (const { key, state } of page) {
    const group = key.slice(0, Math.max(key.lastIndexOf('-'), 4));
    lines.set(group, (lines.get(group) ?? '') + marks[state]);
  }
  return [...lines].map(([group, line]) => `${group}  ${line}`);
}

/** A span for people: `42 s`, `3 min 05 s`, `2 h 10 min`. */
export function printSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, '0');
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

/** `12.5/min`, in the largest unit that gives a number a person can imagine. */
export function printRate(perSecond: number): string {
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  return perSecond * 60 >= 1 ? `${(perSecond * 60).toFixed(1)}/min` : `${(perSecond * 3600).toFixed(1)}/h`;
}

/** What the Web UI shows as the run's current details. `workflowId` goes into the commands. */
export function progressMarkdown(progress: Progress, workflowId: string): string {
  const { done, total, failed, writing, oldestFailed, rate, secondsLeft, state } = progress;
  const facts = [
    `| state | done | failed | writing | rate | time left |`,
    `| --- | --- | --- | --- | --- | --- |`,
    `| ${state} | ${done} of ${total} | ${failed} | ${writing.join(', ') || '–'} | ${rate === null ? '–' : printRate(rate)} | ${secondsLeft === null ? '–' : printSeconds(secondsLeft)} |`,
  ];
  const calendar = ['```', ...calendarLines(progress.page), '```', '█ done  ▶ writing  · waiting  ✗ failed'];
  const failure = oldestFailed
    ? [`Oldest failed: **${oldestFailed.key}** (${oldestFailed.type})`, quoteBlock(oldestFailed.message)]
    : [];
  return [
    `**${progress.table}**, ${progress.from} to ${progress.to} (both included)`,
    facts.join('\n'),
    ...(progress.waitingFor === null ? [] : [`Waiting: ${progress.waitingFor}`]),
    calendar.join('\n'),
    ...failure,
    whatNow(progress, workflowId),
  ].join('\n\n');
}

/** What a person can do now, as the exact command. */
function whatNow({ state }: Progress, workflowId: string): string {
  const id = `'${workflowId.replaceAll("'", `'\\''`)}'`;
  switch (state) {
    case 'planning':
    case 'waiting':
    case 'running':
    case 'verifying':
      return `Cancel it: \`temporal workflow cancel --workflow-id ${id}\` (what is done stays done)`;
    case 'failed':
    case 'cancelled':
      return `Go on at the first unfinished partition: \`backfill retry ${id}\``;
    case 'completed':
      return 'Every partition of the plan was read back and found as recorded.';
    default:
      return state satisfies never;
  }
}

function quoteBlock(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
