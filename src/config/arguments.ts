import type { BoundMarker, RowsMarker } from '../domain/sql-template.js';

/**
 * The bounds of the partition that is being built, to be put into the SQL as `${start}`. The partition is half-open:
 * `>= start` and `< end`.
 */
export interface BuildArguments {
  /** timestamptz */
  readonly start: BoundMarker;
  readonly end: BoundMarker;
  /** date, in the table's time zone; `endDate` is the first date after the partition */
  readonly startDate: BoundMarker;
  readonly endDate: BoundMarker;
  /** the type of the partition column */
  readonly startValue: BoundMarker;
  readonly endValue: BoundMarker;
  /** text, for example `2026-03-01` */
  readonly key: BoundMarker;
}

/** `rows` names the relation with the new rows of the partition: `from ${rows} r`. */
export interface CheckArguments extends BuildArguments {
  readonly rows: RowsMarker;
}
