import { z } from 'zod';
import { InvalidRequest } from '../domain/failure.js';
import { printIssues } from './zod-message.js';

const position = z.int().min(0).optional();
const text = z.string().max(300);
/** As PostgreSQL prints it, to the microsecond, which ISO 8601 has otherwise. */
const moment = z.string().regex(/^\d{4,6}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?([+-]\d\d(:?\d\d)*|Z)$/, {
  error: 'expected a moment',
});

/** By what is asked. Fields that nobody knows are let be: a newer client may send some. */
const questions = {
  tables: z.object({ after: position }),
  history: z.object({
    table: text,
    key: text.optional(),
    before: z.object({ committedAt: moment, key: text, generation: z.int() }).optional(),
  }),
  partitions: z.object({ table: text, after: text.optional() }),
  failed: z.object({ after: position }),
  doctor: z.object({
    table: text.optional(),
    from: text.optional(),
    to: text.optional(),
    workers: z.int().min(0).optional(),
  }),
};

/**
 * Checks the form of a question to the ledger: from the Temporal CLI it may be anything.
 * @throws {InvalidRequest} names the field, its value, and what was expected
 */
export function checkQuestion<T extends { readonly what: keyof typeof questions }>(question: T): T {
  const { error } = questions[question.what].safeParse(question);
  if (error) throw new InvalidRequest(printIssues(error, question, 'request'));
  return question;
}
