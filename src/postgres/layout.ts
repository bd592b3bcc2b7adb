import type { Definition } from '../domain/definition.js';
import { type NumberForm, type Partitioning, numberForms } from '../domain/grain.js';
import type { ColumnType } from '../domain/sql-template.js';
import { quoteIdentifier } from '../domain/table-name.js';
import { isSteady } from '../domain/zone-clock.js';
import type { TableFacts } from './catalog.js';

/** Where the partitions of a definition lie. */
export interface Layout {
  readonly facts: TableFacts;
  readonly columnType: ColumnType;
  /** By range on this very column: a partition of the definition can be one of the table. */
  readonly isCutByColumn: boolean;
}

/** @returns a sentence instead, where the table cannot be backfilled as it is */
export function layoutOf({ name, partitioning }: Definition, facts: TableFacts | null): Layout | string {
  if (!facts) return `There is no table ${name} in the database`;
  const { grain, as } = partitioning;
  const column = facts.columns.find((one) => one.name === partitioning.column);
  const quoted = quoteIdentifier(partitioning.column);
  if (!column) {
    const is = facts.isPartitioned ? `partitioned by ${facts.partitionKey ?? ''}` : 'not partitioned';
    return `${name} is ${is}, and has no column ${quoted}`;
  }
  // A precision: timestamp(3) with time zone.
  const type = column.type.replace(/\(\d+\)/, '');
  const columnType = columnTypeOf(type, as);
  const problem = misfit(columnType, type, partitioning);
  if (columnType === undefined || problem !== undefined) return `${name} cannot be backfilled by ${grain}: ${problem}`;
  return { facts, columnType, isCutByColumn: facts.rangeColumn === partitioning.column };
}

/** Digits of the column's fractions of a second, as in `timestamp(3) with time zone`; null where nothing is rounded. */
export function precisionOf({ partitioning }: Definition, { columns }: TableFacts): number | null {
  const type = columns.find(({ name }) => name === partitioning.column)?.type;
  const digits = type === undefined ? null : /\((\d)\)/.exec(type);
  return digits ? Number(digits[1]) : null;
}

function columnTypeOf(type: string, as: NumberForm | undefined): ColumnType | undefined {
  switch (type) {
    case 'date':
    case 'timestamp with time zone':
    case 'timestamp without time zone':
      return type;
    case 'integer':
    case 'bigint':
      return as && `${type} as ${as}`;
    default:
      return undefined;
  }
}

/** Why a column cannot tell the partitions of a definition apart. */
function misfit(
  type: ColumnType | undefined,
  written: string,
  { column, grain, timeZone, as }: Partitioning,
): string | undefined {
  const quoted = quoteIdentifier(column);
  if (written === 'integer' || written === 'bigint') {
    if (!as) return `${quoted} is a number; say what it means with partitionBy.as (${numberForms.join(', ')})`;
  }
  if (!type) return `${quoted} is ${written}; it must be date, timestamp, timestamptz, integer or bigint`;
  if (as !== undefined && !type.includes(' as ')) return `${quoted} is ${type}, and partitionBy.as is for integers`;
  if (type === 'integer as epoch-milliseconds')
    return `milliseconds since 1970 do not fit the type of ${quoted}, integer`;
  if (grain !== 'hour') return undefined;
  if (type === 'date' || type.endsWith('yyyymmdd')) return `${quoted} holds whole days`;
  return type === 'timestamp without time zone' && !isSteady(timeZone)
    ? `${quoted} is a time without a zone, and in ${timeZone} clocks are changed: an hour that comes twice cannot be told apart; use timestamptz, or a zone without changes`
    : undefined;
}
