/** The metrics of our own. Prometheus adds `_total` to a counter's name, and the unit to a histogram's. */
export const metrics = {
  partitions: {
    name: 'backfill_partitions',
    description: 'Partitions by table and outcome: created, replaced, already, failed',
  },
  retries: {
    name: 'backfill_retries',
    description: 'Attempts at a partition that failed and are made again, by table and kind (SQLSTATE)',
  },
  inFlight: { name: 'backfill_partitions_in_flight', description: 'Partitions being written by this worker, by table' },
  seconds: {
    name: 'backfill_partition_duration',
    unit: 'seconds',
    description: 'Seconds to write a partition, by table',
  },
  rows: { name: 'backfill_partition_rows', description: 'Rows of a partition after it was written, by table' },
} as const;

/** The usual buckets are those of a network call: up to ten seconds, and, of rows, up to ten. */
export const histogramBuckets = {
  [metrics.seconds.name]: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10_800],
  [metrics.rows.name]: [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
} as const;
