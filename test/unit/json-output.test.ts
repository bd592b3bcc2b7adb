import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as errors from '../../src/client/errors.js';
import { closed, open, partitionFailed, planId, progress, range, run, workflowId } from '../support/cli-world.js';
import { jsonDocs } from '../support/json-docs.js';
import { commands, refused } from '../support/json-schemas.js';

const failed = { ...closed, status: 'failed' as const };
const noWorker = { client: { plan: () => Promise.reject(new errors.NoWorker('backfill')) } };
const digests = new Map([
  ['mart.daily_revenue', 'another'],
  ['mart.new', 'd'],
]);

/** As docs/json.md has it. */
const codes = { completed: 0, started: 0, asked: 0, stopped: 0, failed: 1, refused: 2, cancelled: 3, detached: 130 };

describe('--json prints what docs/json.md says', () => {
  it.each<[args: string[], world: Parameters<typeof run>[1]]>([
    [['plan', ...range], {}],
    [['start', ...range, '--yes'], {}],
    [['start', ...range, '--yes', '--detach'], {}],
    [['start', ...range, '--yes'], { handle: { describe: [failed], result: partitionFailed() } }],
    [['start', ...range, '--yes'], { handle: { describe: [open] }, interrupt: true }],
    [['watch', workflowId], { handle: { result: new errors.RunCancelled(workflowId) } }],
    [
      ['watch', workflowId],
      {
        handle: {
          result: new errors.VerificationFailed({
            planId,
            count: 1,
            differences: [{ key: '2026-03-01', rowsRecorded: 7, rowsFound: 6, rowsOfOthers: 0 }],
          }),
        },
      },
    ],
    [['status', workflowId], { handle: { describe: [open], progress: [{ ...progress, waitingFor: 'another run' }] } }],
    [['status', workflowId], {}],
    [['status', workflowId, '--failed'], { handle: { describe: [failed], result: partitionFailed() } }],
    [['list'], {}],
    [['cancel', workflowId, '--detach'], { handle: { describe: [open] } }],
    [['retry', workflowId], { handle: { describe: [failed] } }],
    [['undo', workflowId, '--yes'], {}],
    [['undo', workflowId, '--plan-only'], {}],
    [['tables'], {}],
    [['tables'], { local: { file: 'backfill.config.ts', problem: null, digests } }],
    [['history', 'mart.daily_revenue'], {}],
    [['doctor'], {}],
    [['doctor'], { connectError: new errors.ServerUnreachable('a:1', { why: 'no answer', isTransient: true }) }],
    [['prune', '--older-than', '90 days', '--dry-run'], {}],
    [['completion', 'bash'], {}],
    [['migrate', '--print'], {}],
  ])('%j', async (args, world) => {
    const { stdout, exitCode } = await run([...args, '--json'], world);
    const [name = ''] = args;
    const document = JSON.parse(stdout) as { readonly outcome?: keyof typeof codes };
    expect(commands[name]?.schema.safeParse(document).error?.issues).toBeUndefined();
    if (document.outcome && name !== 'status') expect(exitCode).toBe(codes[document.outcome]);
  });

  it.each<[args: string[], world: Parameters<typeof run>[1]]>([
    [['plan', 'mart.t'], {}],
    [['tabels'], {}],
    [['list', '--state', 'faild'], {}],
    [['plan', ...range], noWorker],
    [['watch', 'x'], { handle: { describe: [new errors.RunNotFound('x')] } }],
    [['list'], { connectError: new errors.ServerUnreachable('a:1', { why: 'no answer', isTransient: true }) }],
    [
      ['start', ...range, '--yes'],
      {
        client: {
          findOpen: () => Promise.reject(new errors.AlreadyRunning({ workflowId, request: '{}', planId: null })),
        },
      },
    ],
  ])('what could not be done: %j', async (args, world) => {
    const { stdout, stderr, exitCode } = await run([...args, '--json'], world);
    const document = JSON.parse(stdout) as { readonly outcome: keyof typeof codes };
    expect(refused.safeParse(document).error?.issues).toBeUndefined();
    expect(exitCode).toBe(codes[document.outcome]);
    expect(stderr).toMatch(/^backfill: .+\n$/);
  });
});

it('docs/json.md is what the schemas say', async () => {
  const docs = await jsonDocs();
  const file = fileURLToPath(new URL('../../docs/json.md', import.meta.url));
  if (process.env['UPDATE_DOCS'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, docs);
  }
  expect(readFileSync(file, 'utf8')).toBe(docs);
});

it('every command that has --json is documented', async () => {
  const { stdout } = await run(['--help']);
  const names = [...stdout.matchAll(/^ {2}([a-z]+) .*\[options\]/gm)].map(([, name = '']) => name);
  expect(new Set(names)).toEqual(new Set(Object.keys(commands)));
});
