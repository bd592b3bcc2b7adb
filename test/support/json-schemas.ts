import { z } from 'zod';
import { runStatuses } from '../../src/client/run-summary.js';
import { FailureType } from '../../src/domain/failure.js';
import { grains, numberForms } from '../../src/domain/grain.js';
import { dependentKinds } from '../../src/domain/impact.js';
import { failureModes, publishModes, selections } from '../../src/domain/request.js';
import { recordStates } from '../../src/domain/table-state.js';

/**
 * What `--json` prints, command by command: the test of the commands holds their output against it, and docs/json.md is
 * made of it. Strict: a field that is not here is not printed.
 */

const count = z.int().min(0);
const time = z.iso.datetime();
const text = z.string();
const orNull = <S extends z.ZodType>(schema: S) => schema.nullable();
const named = <S extends z.ZodType>(id: string, schema: S) => schema.meta({ id });

const failureFields = {
  type: z.enum(FailureType),
  message: text,
  sqlstate: text.optional(),
  detail: text.optional(),
  check: text.optional(),
  sample: z.array(text).max(10).optional(),
};
const failureInfo = named('Failure', z.strictObject(failureFields));
const failureRecord = named(
  'FailedPartition',
  z.strictObject({ key: text, at: time, attempt: count, ...failureFields }),
);

const error = named(
  'Error',
  z.strictObject({
    name: text,
    message: text,
    type: text.optional(),
    workflowId: text.optional(),
    request: orNull(text).optional(),
    planId: orNull(text).optional(),
    key: text.optional(),
    failure: failureInfo.optional(),
    failed: count.optional(),
    done: count.optional(),
    total: count.optional(),
    count: count.optional(),
    differences: z
      .array(z.strictObject({ key: text, rowsRecorded: count, rowsFound: count, rowsOfOthers: count }))
      .optional(),
    how: text.optional(),
    taskQueue: text.optional(),
    waitingRun: orNull(text).optional(),
    address: text.optional(),
    why: text.optional(),
    isTransient: z.boolean().optional(),
  }),
);

const run = named(
  'Run',
  z.strictObject({
    workflowId: text,
    runId: text,
    status: z.enum(runStatuses),
    table: orNull(text),
    from: orNull(text),
    to: orNull(text),
    planId: orNull(text),
    request: orNull(text),
    reason: orNull(text),
    requestedBy: orNull(text),
    startedAt: time,
    closedAt: orNull(time),
  }),
);

const changes = z.strictObject({ added: count, removed: count, changed: count, unchanged: count });

const result = named(
  'Result',
  z.strictObject({
    planId: text,
    table: text,
    from: text,
    to: text,
    partitions: count,
    rowsBefore: count,
    rowsAfter: count,
    changes: orNull(changes.extend({ partitions: count })),
    emptied: z.array(z.strictObject({ key: text, rowsBefore: count })),
    keptUntil: orNull(time),
  }),
);

const progress = named(
  'Progress',
  z.strictObject({
    state: z.enum(['planning', 'waiting', 'running', 'verifying', 'completed', 'failed', 'cancelled']),
    planId: orNull(text),
    table: text,
    from: text,
    to: text,
    total: count,
    done: count,
    failed: count,
    writing: z.array(text),
    oldestFailed: orNull(z.strictObject({ key: text, type: text, message: text })),
    rate: orNull(z.number()),
    secondsLeft: orNull(z.number()),
    page: z.array(z.strictObject({ key: text, state: z.enum(['waiting', 'writing', 'done', 'failed']) })),
    startedAt: time,
    waitingFor: orNull(text),
  }),
);

const plan = named(
  'Plan',
  z.strictObject({
    planId: text,
    table: text,
    from: text,
    to: text,
    grain: text,
    timeZone: text,
    options: z.strictObject({
      select: z.enum(selections),
      exclude: z.array(text),
      concurrency: count,
      publish: z.enum(publishModes),
      onFailure: z.enum(failureModes),
      allowIncomplete: z.boolean(),
      allowDefinitionChange: z.boolean(),
    }),
    digest: text,
    definitionDigest: text,
    buildDigest: text,
    buildSql: text,
    strategy: z.enum(['delete-insert', 'diff']),
    strategyWhy: orNull(text),
    source: orNull(text),
    whenEmpty: z.enum(['fail', 'empty']),
    checks: z.array(text),
    impact: z.array(
      z.strictObject({
        kind: z.enum(dependentKinds),
        name: text,
        reason: text,
        owner: orNull(text),
        url: orNull(text),
      }),
    ),
    estimates: z.array(z.strictObject({ key: text, rows: z.number(), cost: z.number() })),
    earlier: orNull(z.strictObject({ count, medianMs: count })),
    lastWrites: z.array(
      z.strictObject({ planId: orNull(text), workflowId: orNull(text), at: orNull(time), ranges: z.array(text) }),
    ),
    counts: z.strictObject({ create: count, replace: count, leave: count }),
    warnings: z.array(text),
    refusals: z.array(text),
    partitions: z.array(
      z.strictObject({
        seq: count,
        key: text,
        action: z.enum(['create', 'replace']),
        rowsAbout: orNull(count),
        bytes: count,
        generation: count,
      }),
    ),
    leftAlone: z.array(z.strictObject({ key: text, why: text })),
    replaces: orNull(z.strictObject({ planId: text, keysKept: z.array(text) })),
    keep: orNull(z.strictObject({ forMs: count, bytes: count, hasCopy: z.boolean() })),
    undoes: orNull(z.strictObject({ planId: text, workflowId: text })),
    createdAt: time,
    requestedBy: orNull(text),
    reason: orNull(text),
  }),
);

const tableState = named(
  'TableState',
  z.strictObject({
    name: text,
    description: orNull(text),
    owner: orNull(text),
    partitioning: z.strictObject({
      column: text,
      grain: z.enum(grains),
      timeZone: text,
      every: z.number().optional(),
      anchor: text.optional(),
      as: z.enum(numberForms).optional(),
    }),
    digest: text,
    exists: z.boolean(),
    problem: orNull(text),
    partitions: count,
    firstKey: orNull(text),
    lastKey: orNull(text),
    counts: z.strictObject(Object.fromEntries(recordStates.map((state) => [state, count]))),
    openRuns: z.array(
      z.strictObject({
        planId: text,
        workflowId: text,
        from: text,
        to: text,
        requestedBy: orNull(text),
        openedAt: time,
      }),
    ),
  }),
);

const partition = named(
  'Partition',
  z.strictObject({
    key: text,
    state: z.enum(recordStates),
    generation: count,
    rows: orNull(count),
    replacedAt: orNull(time),
  }),
);

const runName = z.strictObject({ planId: text, workflowId: orNull(text) });

const replacement = named(
  'Replacement',
  z.strictObject({
    key: text,
    generation: count,
    action: z.enum(['created', 'replaced']),
    isCurrent: z.boolean(),
    isOutdated: z.boolean(),
    rowsBefore: count,
    rowsAfter: count,
    changes: orNull(changes),
    undoes: orNull(runName),
    undoneBy: orNull(runName),
    planId: text,
    workflowId: orNull(text),
    requestedBy: orNull(text),
    reason: orNull(text),
    attempt: count,
    startedAt: time,
    committedAt: time,
  }),
);

const finding = named(
  'Finding',
  z.union([
    z.strictObject({ check: text, level: z.literal('ok'), found: text }),
    z.strictObject({
      check: text,
      level: z.enum(['warning', 'problem']),
      found: text,
      remedy: text,
      sql: z.array(text),
    }),
  ]),
);

const outcome = z.enum(['completed', 'failed', 'refused', 'cancelled']);
const place = { workflowId: text, planId: orNull(text), link: orNull(text) };
const ended = z.union([
  z.strictObject({ ...place, outcome: z.literal('completed'), result }),
  z.strictObject({ ...place, outcome, error }),
]);
const started = z.strictObject({ ...place, outcome: z.literal('started') });
const detached = z.strictObject({ workflowId: text, outcome: z.literal('detached') });
const nothingToDo = z.strictObject({
  workflowId: z.null(),
  planId: text,
  outcome: z.literal('completed'),
  partitions: z.literal(0),
});
const asked = z.strictObject({ workflowId: text, planId: orNull(text), outcome: z.literal('asked') });
const failures = { failures: z.array(failureRecord).optional() };

/** What a command prints that could not do what it was asked for. */
export const refused = z.strictObject({ outcome: z.enum(['failed', 'refused', 'cancelled']), error });

export interface Documented {
  readonly schema: z.ZodType;
  readonly about: string;
}

export const commands: Readonly<Record<string, Documented>> = {
  plan: { schema: plan, about: 'The stored plan: its first 500 partitions.' },
  start: {
    schema: z.union([ended, started, detached, nothingToDo]),
    about: 'How the run ended; with `--detach` that it started; after Ctrl-C that it goes on.',
  },
  watch: { schema: z.union([ended, detached]), about: 'How the run ended; after Ctrl-C that it goes on.' },
  status: {
    schema: z.union([
      run.extend({ link: orNull(text), progress, ...failures }),
      run.extend({ link: orNull(text), outcome: z.literal('completed'), result, ...failures }),
      run.extend({ link: orNull(text), outcome, error, ...failures }),
    ]),
    about: 'An open run with its progress, or how a run ended; `failures` with `--failed`.',
  },
  list: { schema: z.strictObject({ runs: z.array(run) }), about: 'Latest first.' },
  cancel: { schema: z.union([ended, asked]), about: 'How the run ended; with `--detach` that it was asked to.' },
  retry: { schema: z.union([ended, started, detached]), about: 'As `start`.' },
  undo: {
    schema: z.union([ended, started, detached, nothingToDo, plan]),
    about: 'As `start`; with `--plan-only` the stored plan, as `plan`.',
  },
  tables: {
    schema: z.strictObject({
      tables: z.array(
        z.strictObject({
          name: text,
          deployment: orNull(z.enum(['deployed', 'edited', 'not-deployed', 'not-in-file'])),
          state: orNull(tableState),
        }),
      ),
      local: orNull(z.strictObject({ file: text, problem: orNull(text) })),
    }),
    about:
      '`state` is null of a table that only the local file defines; `deployment` is null where there is no local file to compare with.',
  },
  history: {
    schema: z.strictObject({
      table: text,
      key: orNull(text),
      partitions: z.array(partition),
      entries: z.array(replacement),
    }),
    about: 'Partitions oldest first; replacements newest first, at most `--limit`.',
  },
  doctor: {
    schema: z.strictObject({ outcome: z.enum(['completed', 'failed']), findings: z.array(finding) }),
    about: '`failed`: one of the findings is a problem.',
  },
  prune: {
    schema: z.strictObject({
      outcome: z.literal('completed'),
      before: time,
      dryRun: z.boolean(),
      counts: z.strictObject({
        plans: count,
        planPartitions: count,
        runs: count,
        replacements: count,
        failures: count,
      }),
    }),
    about: 'What was deleted, or with `--dry-run` what would be.',
  },
  completion: { schema: z.strictObject({ shell: text, script: text }), about: 'The script.' },
  migrate: {
    schema: z.union([z.strictObject({ outcome: z.literal('completed') }), z.strictObject({ sql: text })]),
    about: 'With `--print` the SQL.',
  },
  dev: {
    schema: z.strictObject({ temporalAddress: text, uiUrl: text, temporalCli: text }),
    about: 'Printed once, when everything runs.',
  },
  worker: { schema: z.strictObject({ outcome: z.literal('stopped') }), about: 'Printed when it has stopped.' },
};
