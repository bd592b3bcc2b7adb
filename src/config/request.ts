import { z } from 'zod';
import { InvalidRequest } from '../domain/failure.js';
import { type RunOptions, failureModes, overlapModes, publishModes, selections } from '../domain/request.js';
import { printIssues } from './zod-message.js';

/** A request for a new plan, every default filled in. */
export interface NewPlanRequest extends RunOptions {
  readonly table: string;
  readonly from: string;
  readonly to: string;
  readonly widen: boolean;
  readonly reason: string | null;
  readonly requestedBy: string | null;
}

/** A request to run a stored plan. */
export interface StoredPlanRequest {
  readonly plan: string;
  readonly replan: boolean;
  readonly reason: string | null;
  readonly requestedBy: string | null;
}

/** A request to put back what the run of a plan replaced. */
export interface UndoRequest {
  readonly undo: string;
  /** First and last partition; null for those of that run. */
  readonly from: string | null;
  readonly to: string | null;
  readonly reason: string | null;
  readonly requestedBy: string | null;
}

/** PostgreSQL has no NUL in its texts. */
const text = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\0]*$/, { error: 'expected no NUL character' });
/** Longer than any key of any grain. */
const key = text(64);

const common = {
  onOverlap: z.enum(overlapModes).default('refuse'),
  reason: text(2000).nullish(),
  requestedBy: text(200).nullish(),
};

const newPlan = z.strictObject({
  table: text(300).min(1),
  from: key,
  to: key,
  widen: z.boolean().default(false),
  select: z.enum(selections).default('all'),
  exclude: z.array(key).max(10_000).default([]),
  concurrency: z.int().min(1).max(100).default(1),
  publish: z.enum(publishModes).default('in-order'),
  onFailure: z.enum(failureModes).default('stop'),
  allowIncomplete: z.boolean().default(false),
  allowDefinitionChange: z.boolean().default(false),
  ...common,
});

const storedPlan = z.strictObject({
  plan: z.uuid({ error: 'expected the id of a stored plan' }),
  replan: z.boolean().default(false),
  ...common,
});

const undo = z.strictObject({
  undo: z.uuid({ error: 'expected the id of the plan whose run is to be undone' }),
  from: key.nullish(),
  to: key.nullish(),
  ...common,
});

/**
 * Checks the shape of a request and fills in its defaults. Keys and the table's name are checked against the definition
 * later, where the definition is.
 * @throws {InvalidRequest} names the field, its value, and what was expected
 */
export function parseRequest(input: unknown): NewPlanRequest | StoredPlanRequest | UndoRequest {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new InvalidRequest(
      `The request is ${JSON.stringify(input) ?? 'missing'}: expected an object such as {"table":"mart.daily_revenue","from":"2026-03-01","to":"2026-03-14"}`,
    );
  }
  // Null is as good as absent.
  for (const name of ['plan', 'undo'] as const) {
    if (name in input && ((input as Record<string, unknown>)[name] ?? null) === null)
      return parseRequest(without(input, name));
  }
  if ('plan' in input) return withWho(read(storedPlan, input));
  return 'undo' in input ? parseUndo(input) : parseNewPlan(input);
}

function parseNewPlan(input: object): NewPlanRequest {
  const request = read(newPlan, input);
  if (request.publish === 'in-order' && request.concurrency > 1) {
    throw new InvalidRequest(
      `request.concurrency is ${request.concurrency} with request.publish "in-order": more than one at a time needs "publish": "any-order"`,
    );
  }
  if (request.publish === 'in-order' && request.onFailure === 'continue') {
    throw new InvalidRequest('request.onFailure is "continue": going on after a failure needs "publish": "any-order"');
  }
  return withWho(request);
}

function parseUndo(input: object): UndoRequest {
  const { from, to, ...request } = read(undo, input);
  return withWho({ ...request, from: from ?? null, to: to ?? null });
}

function without(input: object, name: string): object {
  return Object.fromEntries(Object.entries(input).filter(([field]) => field !== name));
}

function withWho<R extends { reason?: string | null | undefined; requestedBy?: string | null | undefined }>(
  request: R,
) {
  return { ...request, reason: request.reason ?? null, requestedBy: request.requestedBy ?? null };
}

function read<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw new InvalidRequest(printIssues(parsed.error, input, 'request'));
  return parsed.data;
}
