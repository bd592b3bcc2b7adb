import type { Plan } from '../domain/plan.js';
import { planLines } from '../report/plan-text.js';
import { CliRefusal } from './exit.js';
import { type CliClient, type CliIo, type Output, printLines } from './io.js';

/** Prints a plan; the end of a long one is read first. */
export async function showPlan(client: CliClient, plan: Plan, output: Output): Promise<void> {
  const total = plan.counts.create + plan.counts.replace;
  const isWhole = plan.partitions.length >= total;
  const end = isWhole ? null : await client.readPlan(plan.planId, { after: total - 5 });
  printLines(output, planLines(plan, end?.partitions));
}

export interface AskFlags {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Where plan and question go: with --json, stdout holds the document alone. */
export function outputOf(io: CliIo, { json }: AskFlags): Output {
  return json ? io.stderr : io.stdout;
}

/** @throws {CliRefusal} there is nobody to ask, and no --yes; said before anything is sent */
export function requireAnswer(io: CliIo, flags: AskFlags): void {
  if (flags.yes || (io.canAnswer && outputOf(io, flags).isTTY)) return;
  throw new CliRefusal('This is no terminal, so nobody can be asked: add --yes to start without a question');
}

/** @throws {CliRefusal} the plan cannot run, or the answer was no */
export async function agreeTo(io: CliIo, plan: Plan, flags: AskFlags): Promise<void> {
  const [refusal] = plan.refusals;
  if (refusal !== undefined) throw new CliRefusal(`Nothing was started: ${refusal}`);
  if (flags.yes) {
    // Where a question would stand: what comes next is not the plan.
    outputOf(io, flags).write('\n');
    return;
  }
  if (await io.confirm('Start this plan?', outputOf(io, flags))) return;
  throw new CliRefusal('Nothing was started');
}
