import {
  BackfillClientError,
  BackfillRefused,
  NoWorker,
  RunCancelled,
  RunNotFound,
  ServerUnreachable,
} from '../client/errors.js';
import { ConfigError } from '../config/errors.js';
import type { exitCodes } from '../domain/outcome.js';

/** The command cannot do what it was asked for; nothing was changed. */
export class CliRefusal extends Error {
  override readonly name = 'CliRefusal';
}

/** As a shell counts it: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;

const refused = [CliRefusal, BackfillRefused, NoWorker, ServerUnreachable, RunNotFound, ConfigError] as const;

export type Outcome = keyof typeof exitCodes;

export function outcomeOf(error: unknown): Outcome {
  if (refused.some((type) => error instanceof type)) return 'refused';
  return error instanceof RunCancelled ? 'cancelled' : 'failed';
}

/** `backfill: ` and one sentence on one line; with BACKFILL_DEBUG=1 also where it came from. */
export function printError(error: unknown, env: NodeJS.ProcessEnv): string {
  const sentence = `backfill: ${messageOf(error).replace(/\s+/g, ' ')}\n`;
  return env['BACKFILL_DEBUG'] === '1' ? `${sentence}${stacks(error).join('')}` : sentence;
}

/** An error as plain data. Only those of the client carry fields that are known to be fit for print. */
export function describeError(error: unknown): object {
  const fields = error instanceof BackfillClientError ? Object.entries(error).filter(([name]) => name !== 'cause') : [];
  const name = error instanceof Error ? error.name : 'Error';
  return { name, message: messageOf(error), ...Object.fromEntries(fields) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function stacks(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return [`${error.stack ?? error.message}\n`, ...stacks(error.cause)];
}
