import { z } from 'zod';
import { grains, numberForms } from '../domain/grain.js';
import { parseDate } from '../domain/calendar.js';
import { isTimeZone } from '../domain/range.js';
import { wantedStrategies } from '../domain/strategy.js';
import { MAX_IDENTIFIER_BYTES } from '../domain/table-name.js';
import type { CheckInput } from './checks.js';
import type { TableInput } from './define.js';
import type { RowSchema } from './row-schema.js';

const identifier = z
  .string()
  .min(1)
  .refine((name) => Buffer.byteLength(name) <= MAX_IDENTIFIER_BYTES && !name.includes('\0'), {
    error: `a name in PostgreSQL has at most ${MAX_IDENTIFIER_BYTES} bytes`,
  });
const schemaName = identifier.refine((name) => !name.startsWith('pg_'), { error: 'a schema must not begin with pg_' });
const callback = <T>() => z.custom<T>((value) => typeof value === 'function', { error: 'expected a function' });
const names = z.array(identifier).min(1);
const count = z.int().min(0);

const check = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('notNull'), name: z.string(), columns: names }),
  z.strictObject({ kind: z.literal('unique'), name: z.string(), columns: names }),
  z.strictObject({ kind: z.literal('rowCount'), name: z.string(), min: count.optional(), max: count.optional() }),
  z.strictObject({ kind: z.literal('everyRow'), name: z.string(), condition: z.string().min(1) }),
  z.strictObject({
    kind: z.literal('noRows'),
    name: z.string().min(1),
    query: callback<Extract<CheckInput, { kind: 'noRows' }>['query']>(),
  }),
]);

const partitionBy = z
  .strictObject({
    column: identifier,
    grain: z.enum(grains),
    timeZone: z.string().refine(isTimeZone, { error: 'expected an IANA time zone such as "UTC" or "Europe/Berlin"' }),
    every: z.int().min(1).max(1000).optional(),
    anchor: z
      .string()
      .refine((text) => parseDate(text) !== undefined, { error: 'expected a date as YYYY-MM-DD' })
      .optional(),
    as: z.enum(numberForms).optional(),
  })
  .refine(({ grain, every = 1 }) => grain !== 'hour' || (every < 24 && 24 % every === 0), {
    path: ['every'],
    error: 'hours are counted anew each day: expected 1, 2, 3, 4, 6, 8 or 12; for longer ones take the grain "day"',
  })
  .refine(({ grain, every = 1, anchor }) => anchor === undefined || (every > 1 && grain !== 'hour'), {
    path: ['anchor'],
    error: 'it says from which date several days, weeks, months, quarters or years are counted: it needs "every"',
  });

const report = z.strictObject({
  name: z.string().min(1).max(200),
  owner: z.string().min(1).max(200).optional(),
  // It is shown as a link.
  url: z
    .url({ protocol: /^https?$/, error: 'expected an address that begins with http:// or https://' })
    .max(2000)
    .optional(),
});

const table = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  owner: z.string().optional(),
  partitionBy,
  reads: z.array(z.string()).optional(),
  build: callback<TableInput['build']>().optional(),
  source: z.string().min(1).optional(),
  rows: callback<TableInput['rows']>().optional(),
  version: z.string().min(1).optional(),
  columns: names.optional(),
  row: z
    .custom<RowSchema>((value) => typeof value === 'object' && value !== null && '~standard' in value, {
      error: 'expected a schema of zod, or another Standard Schema',
    })
    .optional(),
  checks: z.array(check).optional(),
  reports: z.array(report).optional(),
  cumulative: z.boolean().optional(),
  strategy: z.enum(wantedStrategies).optional(),
  whenEmpty: z.enum(['fail', 'empty']).optional(),
  searchPath: names.optional(),
  showValues: z.boolean().optional(),
  keepReplaced: z.string().optional(),
  keepReplacedAtMost: z.string().optional(),
  timeouts: z
    .strictObject({ attempt: z.string().optional(), partition: z.string().optional(), lock: z.string().optional() })
    .optional(),
});

/** The config file. Unknown fields are errors: a misspelt `whenEmtpy` must not mean the default. */
export const configSchema = z.strictObject({
  database: z.strictObject({ url: z.string().optional(), ledgerSchema: schemaName.optional() }).optional(),
  sources: z.record(z.string().min(1), z.strictObject({ url: z.string().optional() })).optional(),
  worker: z.strictObject({ poolSize: z.int().min(1).max(1000).optional() }).optional(),
  tables: z.array(table),
});
