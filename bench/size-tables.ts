/** A range of a size at which something might break. */
export interface SizedTable {
  readonly name: string;
  readonly grain: 'day' | 'hour';
  readonly from: string;
  readonly to: string;
  readonly partitions: number;
  readonly ddl: string;
}

/** What 100,000 hours from the beginning of 2013 end with. */
const LAST_HOUR = `${new Date(Date.UTC(2013, 0, 1, 99_999)).toISOString().slice(0, 13)}Z`;

export const tables = {
  days: {
    name: 'plain_day',
    grain: 'day',
    from: '1995-01-01',
    to: '2024-12-31',
    partitions: 10_958,
    ddl: 'create table plain_day (at date not null, n int not null); create index on plain_day (at)',
  },
  created: {
    name: 'created_hour',
    grain: 'hour',
    from: '2024-01-01T00Z',
    to: '2024-12-31T23Z',
    partitions: 8_784,
    ddl: 'create table created_hour (at timestamptz not null, n int not null) partition by range (at)',
  },
  hours: {
    name: 'plain_hour',
    grain: 'hour',
    from: '2013-01-01T00Z',
    to: LAST_HOUR,
    partitions: 100_000,
    ddl: 'create table plain_hour (at timestamptz not null, n int not null); create index on plain_hour (at)',
  },
} as const satisfies Record<string, SizedTable>;

/** The key of the nth partition, from 1. */
export function keyAt({ grain, from }: SizedTable, n: number): string {
  const first = Date.parse(grain === 'day' ? from : `${from.slice(0, 13)}:00Z`);
  const text = new Date(first + (n - 1) * (grain === 'day' ? 86_400_000 : 3_600_000)).toISOString();
  return grain === 'day' ? text.slice(0, 10) : `${text.slice(0, 13)}Z`;
}
