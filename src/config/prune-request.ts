import { z } from 'zod';
import { parseDuration } from '../domain/duration.js';
import { InvalidRequest } from '../domain/failure.js';
import { printIssues } from './zod-message.js';

const DAY_MS = 86_400_000;

const schema = z.strictObject({
  olderThan: z.string().optional(),
  before: z.iso.datetime({ offset: true }).optional(),
  dryRun: z.boolean().default(false),
});

/**
 * Checks a request to prune, and turns its span into a moment.
 * @throws {InvalidRequest} names the field, its value, and what was expected
 */
export function parsePruneRequest(input: unknown, now: Date): { readonly before: Date; readonly dryRun: boolean } {
  const parsed = schema.safeParse(input ?? {});
  if (!parsed.success) throw new InvalidRequest(printIssues(parsed.error, input, 'request'));
  const { olderThan, before, dryRun } = parsed.data;
  if ((olderThan === undefined) === (before === undefined)) {
    throw new InvalidRequest('Say how old: {"olderThan":"90 days"}, or {"before":"2026-01-01T00:00:00Z"}');
  }
  const moment = before === undefined ? now.getTime() - spanOf(olderThan ?? '') : Date.parse(before);
  // What was planned or written just now is about to be looked at, run or undone.
  if (moment <= now.getTime() - DAY_MS) return { before: new Date(moment), dryRun };
  throw new InvalidRequest('Rows of the last 24 hours are kept: request.olderThan must be at least "1 day"');
}

function spanOf(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidRequest(
    `request.olderThan is ${JSON.stringify(text)}: expected a span such as "90 days" or "36 hours"`,
  );
}
