import fc from 'fast-check';
import pg from 'pg';
import type { Partitioning } from '../../src/domain/grain.js';
import { EVERY_TYPE } from './every-type.js';

/** A column by which rows are told apart, and the value of it that an instant has, as SQL. */
const day = (zone: string, t: string) => `((${t}) at time zone '${zone}')::date`;
const local = (zone: string, t: string) => `(${t}) at time zone '${zone}'`;
const number = (zone: string, t: string) => `to_char((${t}) at time zone '${zone}', 'YYYYMMDD')::integer`;
const epoch = (by: number) => (_: string, t: string) => `floor(extract(epoch from (${t})) * ${by})::bigint`;
export const columns = {
  date: { type: 'date', value: day },
  timestamp: { type: 'timestamp', value: local },
  'timestamp(0)': { type: 'timestamp(0)', value: local },
  'timestamp(3)': { type: 'timestamp(3)', value: local },
  timestamptz: { type: 'timestamptz', value: (_: string, t: string) => t },
  'timestamptz(0)': { type: 'timestamptz(0)', value: (_: string, t: string) => t },
  'integer yyyymmdd': { type: 'integer', value: number, as: 'yyyymmdd' },
  'bigint yyyymmdd': { type: 'bigint', value: number, as: 'yyyymmdd' },
  'integer seconds': { type: 'integer', value: epoch(1), as: 'epoch-seconds' },
  'bigint seconds': { type: 'bigint', value: epoch(1), as: 'epoch-seconds' },
  'bigint milliseconds': { type: 'bigint', value: epoch(1000), as: 'epoch-milliseconds' },
} satisfies Record<string, { type: string; value: (zone: string, t: string) => string; as?: Partitioning['as'] }>;
export type ColumnKind = keyof typeof columns;

export const layouts = [
  'exact',
  'holes',
  'default',
  'larger',
  'smaller',
  'hash',
  'list',
  'sub',
  'plain',
  'indexed',
] as const;
export const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu'] as const;
export const keyKinds = ['none', 'primary', 'unique'] as const;
export const idTypes = ['bigint', 'numeric', 'text', 'uuid'] as const;

/** Where a row lies: so many microseconds after the beginning, or the end, of the range. */
export interface RandomRow {
  readonly edge: 'lower' | 'upper';
  readonly microseconds: number;
  readonly is: 'same' | 'changed' | 'old' | 'new';
  /** Zeros behind the point, and rows that are alike where nothing forbids it. */
  readonly zeros: readonly [number, number];
  readonly copies: number;
  /** SQL, one of each payload column, of the old row and of the new one. */
  readonly values: readonly [readonly string[], readonly string[]];
}

export interface RandomTable {
  readonly column: ColumnKind;
  readonly grain: 'hour' | 'day' | 'week' | 'month';
  readonly zone: (typeof zones)[number];
  readonly layout: (typeof layouts)[number];
  readonly key: (typeof keyKinds)[number];
  readonly id: (typeof idTypes)[number];
  readonly strategy: 'delete-insert' | 'diff' | 'auto';
  /** The number of the first partition of the range, and how many there are. */
  readonly first: number;
  readonly count: number;
  readonly missing: readonly boolean[];
  readonly payload: readonly string[];
  readonly rows: readonly RandomRow[];
  readonly isTwice: boolean;
}

export const payloadTypes = Object.keys(EVERY_TYPE);

const literal = (text: string) => pg.escapeLiteral(text.replaceAll('\0', '')).trim();
const random: Readonly<Record<string, fc.Arbitrary<string>>> = {
  text: fc.string({ unit: 'binary', maxLength: 30 }).map(literal),
  jsonb: fc.json({ maxDepth: 2, stringUnit: 'grapheme' }).map((json) => literal(json.replaceAll('\\u0000', ''))),
  json: fc.json({ maxDepth: 2, stringUnit: 'grapheme' }).map(literal),
  bytea: fc.uint8Array({ maxLength: 20 }).map((bytes) => `'\\x${Buffer.from(bytes).toString('hex')}'`),
  'double precision': fc.double().map((n) => `'${n}'`),
  numeric: fc.tuple(fc.maxSafeInteger(), fc.nat(30)).map(([n, scale]) => `'${n}e-${scale}'`),
  uuid: fc.uuid().map((text) => `'${text}'`),
  'integer[]': fc.array(fc.integer()).map((list) => `'{${list.join()}}'`),
  // An included upper end is stored as the number after it, which has to be one.
  int4range: fc.tuple(fc.nat(1e9), fc.nat(1e9)).map(([a, b]) => `'[${Math.min(a, b)},${Math.max(a, b)}]'`),
  interval: fc.integer().map((n) => `'${n} seconds'`),
  boolean: fc.boolean().map(String),
};

/** Now and then null, now and then a value at the type's edge. */
function valueOf(type: string): fc.Arbitrary<string> {
  const [edges, any] = [fc.constantFrom(...(EVERY_TYPE[type] ?? ['null'])), random[type]];
  const value = fc.oneof(fc.constant('null'), edges, ...(any ? [any] : []));
  return value.map((text) => `(${text})::${type}`);
}

const shifts = fc.oneof(
  fc.constantFrom(-1, 0, 1, -1_000_000, -400_000, 400_000),
  fc.integer({ min: -60, max: 60 }).chain((hours) => fc.nat(3_599_999_999).map((rest) => hours * 3_600_000_000 + rest)),
);

function rowOf(payload: readonly string[]): fc.Arbitrary<RandomRow> {
  const values = fc.tuple(...payload.map(valueOf));
  return fc.record({
    edge: fc.constantFrom('lower', 'upper'),
    microseconds: shifts,
    is: fc.constantFrom('same', 'changed', 'old', 'new'),
    zeros: fc.tuple(fc.nat(2), fc.nat(2)),
    copies: fc.constantFrom(1, 1, 1, 2),
    values: fc.tuple(values, values),
  });
}

function fits({ column, grain, zone }: Pick<RandomTable, 'column' | 'grain' | 'zone'>): boolean {
  if (grain !== 'hour') return true;
  if (column === 'date' || column.endsWith('yyyymmdd') || zone === 'Asia/Kathmandu') return false;
  return zone === 'UTC' || !/^timestamp(\(|$)/.test(column);
}

export const randomTable: fc.Arbitrary<RandomTable> = fc
  .tuple(
    fc
      .record({
        column: fc.constantFrom(...(Object.keys(columns) as ColumnKind[])),
        grain: fc.constantFrom('hour', 'day', 'day', 'week', 'month'),
        zone: fc.constantFrom(...zones),
      })
      .filter(fits),
    fc.constantFrom(...keyKinds, 'primary' as const),
    fc.uniqueArray(fc.constantFrom(...payloadTypes), { minLength: 1, maxLength: 8 }),
  )
  .chain(([cut, key, payload]) =>
    fc.record({
      column: fc.constant(cut.column),
      grain: fc.constant(cut.grain),
      zone: fc.constant(cut.zone),
      key: fc.constant(key),
      layout: fc.constantFrom(...layouts),
      id: fc.constantFrom(...idTypes),
      strategy: fc.constantFrom('delete-insert', 'auto', ...(key === 'none' ? [] : (['diff', 'diff'] as const))),
      first: fc.nat(3),
      count: fc.integer({ min: 1, max: 3 }),
      missing: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      payload: fc.constant(payload),
      rows: fc.array(rowOf(payload), { maxLength: 24 }),
      isTwice: fc.constantFrom(true, false, false, false),
    }),
  );
