import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopLeftovers } from '../../src/dev/stack.js';
import { runProgram } from '../support/commands.js';
import { type Demo, processesOf, queryDemo, startDemo, startDemoInTerminal } from '../support/demo.js';
import { DAYS, linkOf, plannedDays, progressOf, proofOf, shellLineOf, snippetOf } from '../support/demo-story.js';
import { until } from '../support/wait.js';

// `npm start` by one newcomer, again and again in one folder: each test goes on where the one before it stopped.

const RUN = 'backfill/mart.daily_revenue/2026-03-01..2026-03-14';
const WRONG = '5,276,922,446.82';
const RIGHT = '3,064,230.13';
const OUTSIDE = '167';

const root = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
let demo: Demo;
/** The values of the whole table, once it was repaired. */
let repaired: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'backfill-demo-'));
  // Root's PostgreSQL runs under another user, who has to pass through.
  chmodSync(folder, 0o711);
});

afterAll(async () => {
  demo.signal('SIGTERM');
  await demo.ended;
  await stopLeftovers(join(folder, '.backfill'), () => {});
  rmSync(folder, { recursive: true, force: true });
});

test('a fresh start shows the plan, repairs exactly the fourteen days, proves it, and ends with 0', async () => {
  demo = startDemo({ folder, args: ['--exit', '--pause', '0.15'] });
  await demo.printed(/^── The plan and the run$/m);
  // Itself, `backfill dev`, worker, Temporal, PostgreSQL: what is counted is there to be counted.
  expect(processesOf(folder).length).toBeGreaterThanOrEqual(5);
  expect(await demo.ended).toBe('code 0');
  expect(processesOf(folder)).toEqual([]);

  const output = demo.output();
  expect(plannedDays(output)).toEqual(DAYS);
  const progress = progressOf(output);
  expect(progress.length).toBeGreaterThan(3);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.at(-1)).toBe(14);
  expect(proofOf(output)).toEqual({ proven: DAYS, before: WRONG, after: RIGHT, unchanged: OUTSIDE });
  expect(shellLineOf(output)).toContain(`--workflow-id '${RUN}'`);
  expect(snippetOf(output)).toContain('BackfillClient.connect');
  expect(tooWide(output)).toEqual([]);
  expect(output.split('\n').filter((line) => line !== line.trimEnd())).toEqual([]);
  expect(output).not.toContain('did not stop');
});

test('a second start does the work again, though its worker is killed; the table is the same', async () => {
  demo = startDemoInTerminal({ folder, args: ['--pause', '0.3'] });
  await demo.printed(/^── The plan and the run$/m);
  repaired = await values();
  await demo.printed(/[3-9] of 14 done/);
  const [, worker] = await demo.printed(/^The worker runs as process (\d+)$/m);
  process.kill(Number(worker), 'SIGKILL');
  await demo.printed(/^The worker ended with SIGKILL; it is started again\nThe worker runs as process \d+$/m);
  await demo.printed(/^Everything stays up until Ctrl-C\.$/m);

  const output = demo.output();
  expect(output).toContain('── The table is there from an earlier start');
  expect(progressOf(output).at(-1)).toBe(14);
  expect(proofOf(output)).toEqual({ proven: DAYS, before: RIGHT, after: RIGHT, unchanged: OUTSIDE });
  expect(await generations()).toEqual(DAYS.map((day) => `${day} 2`));
  expect(await values()).toBe(repaired);
});

test('the printed link, shell line and client code work as they are', async () => {
  const link = linkOf(demo.output());
  expect(link.pathname).toContain(encodeURIComponent(RUN));
  expect((await fetch(link)).status).toBe(200);
  // The page is the same for every path; whether there is such a run, its server knows.
  const asked = await fetch(new URL(`/api/v1${link.pathname}`, link));
  expect(await asked.json()).toMatchObject({ workflowExecutionInfo: { execution: { workflowId: RUN } } });

  const started = await runProgram('sh', ['-c', shellLineOf(demo.output())], process.env);
  expect(started).toMatchObject({ exitCode: 0 });
  await until('the run of the shell line', async () => (await statusOfRun()) === 'COMPLETED');
  expect(await generations()).toEqual(DAYS.map((day) => `${day} 3`));

  const snippetFile = join(projectWithPackage(), 'snippet.mjs');
  writeFileSync(snippetFile, snippetOf(demo.output()));
  const ran = await runProgram(process.execPath, [snippetFile], process.env);
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(ran.stdout).toContain('partitions: 14');
  expect(await generations()).toEqual(DAYS.map((day) => `${day} 4`));
  expect(await values()).toBe(repaired);
});

test('Ctrl-C ends everything, with 0', async () => {
  demo.type('\u0003');
  expect(await demo.ended).toBe('code 0');
  expect(processesOf(folder)).toEqual([]);
  expect(demo.output()).toMatch(/Everything stays up until Ctrl-C\.\n(?:\^C)?\n*Stopping …\n*$/);
});

test('killed with -9 in the middle and started again, it goes on where it was', async () => {
  demo = startDemo({ folder, args: ['--pause', '0.4', '--reset'] });
  const [, done] = await demo.printed(/^([5-9]) of 14 done/m);
  const [, planId] = await demo.printed(/^ {2}plan id +(\S+)$/m);
  const [, worker] = await demo.printed(/^The worker runs as process (\d+)$/m);
  // Held, it makes what the killed process leaves behind slow to leave: the next start has to wait for it.
  process.kill(Number(worker), 'SIGSTOP');
  const killedAt = new Date();
  demo.signal('SIGKILL');
  expect(await demo.ended).toBe('SIGKILL');
  demo = startDemoInTerminal({ folder, args: ['--pause', '0.4'] });
  await demo.printed(/^Waiting for process \d+, which has the servers here, to stop …$/m);
  process.kill(Number(worker), 'SIGCONT');
  await demo.printed(/^Everything stays up until Ctrl-C\.$/m);
  const output = demo.output();
  expect(output).toContain('── A run of an earlier start is still open: it goes on where it was');
  expect(proofOf(output)).toEqual({ proven: DAYS, before: WRONG, after: RIGHT, unchanged: OUTSIDE });

  const rows = await queryDemo<{ day: string; before: boolean }>(
    folder,
    `select key as day, committed_at < $2 as before from backfill.replacement where plan_id = $1 order by committed_at`,
    [planId, killedAt],
  );
  expect(rows.map(({ day }) => day)).toEqual(DAYS);
  expect(rows.slice(0, Number(done)).every(({ before }) => before)).toBe(true);
  expect(rows.at(-1)?.before).toBe(false);
  expect(await generations()).toEqual(DAYS.map((day) => `${day} 5`));
  expect(await values()).toBe(repaired);
});

test('a terminal that is closed ends everything, in good order', async () => {
  demo.signal('SIGKILL');
  await demo.ended;
  await until('the end of all', () => processesOf(folder).length === 0);
  expect(readFileSync(join(folder, '.backfill/postgres.log'), 'utf8')).toMatch(/received fast shutdown request/);
});

test('SIGTERM in the middle ends everything', async () => {
  demo = startDemo({ folder, args: ['--pause', '0.4'] });
  await demo.printed(/[2-9] of 14 done/);
  demo.signal('SIGTERM');
  expect(await demo.ended).toBe('code 130');
  expect(processesOf(folder)).toEqual([]);
  const output = demo.output();
  expect(output).toContain('The next npm start goes on with it.');
  expect(output).not.toMatch(/did not stop|Killing all at once/);
});

/** A folder in which `temporal-backfill` is found, as in a project that has installed it. */
function projectWithPackage(): string {
  const project = join(folder, 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  symlinkSync(root, join(project, 'node_modules', 'temporal-backfill'));
  return project;
}

/** Lines that a terminal of 80 columns would break, but for those that are copied whole. */
function tooWide(output: string): string[] {
  return output.split('\n').filter((line) => line.length > 80 && !/http:|workflow start/.test(line));
}

async function statusOfRun(): Promise<string | undefined> {
  const [, cli = '', address = ''] = /^(\S+) .*--address (\S+)/.exec(shellLineOf(demo.output())) ?? [];
  const args = ['workflow', 'describe', '--address', address, '--workflow-id', RUN, '--output', 'json'];
  const { stdout } = await runProgram(cli, args, process.env);
  const status = /"status": *"WORKFLOW_EXECUTION_STATUS_(\w+)"/.exec(stdout);
  return status?.[1];
}

async function generations(): Promise<string[]> {
  const rows = await queryDemo<{ line: string }>(
    folder,
    `select key || ' ' || generation as line from backfill.partition order by key`,
  );
  return rows.map(({ line }) => line);
}

async function values(): Promise<string> {
  const [row] = await queryDemo<{ hash: string }>(
    folder,
    `select md5(string_agg(concat_ws(' ', day, currency, orders, revenue), ',' order by day, currency)) as hash
     from mart.daily_revenue`,
  );
  return row?.hash ?? '';
}
