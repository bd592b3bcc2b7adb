import { DefaultLogger, type LogLevel, Runtime, type TelemetryOptions } from '@temporalio/worker';
import { histogramBuckets } from './domain/metrics.js';

/** Keys that say nothing to a person and are long. */
const NOISE = new Set([
  'taskToken',
  'sdkComponent',
  'isLocal',
  'activityType',
  'taskQueue',
  'namespace',
  'timestampNanos',
]);

export interface RuntimeOptions {
  /** `BACKFILL_LOG_LEVEL`: TRACE, DEBUG, INFO, WARN, ERROR */
  readonly level: string | undefined;
  /** Where the native core serves metrics, its own and ours: `127.0.0.1:4711`. */
  readonly metricsAddress?: string | undefined;
}

/** Logs one JSON object a line to stderr. Installed once a process, before the first connection. */
export function installRuntime({ level, metricsAddress }: RuntimeOptions): void {
  Runtime.install({
    logger: new DefaultLogger(
      (level ?? 'WARN').toUpperCase() as LogLevel,
      ({ level: at, message, meta, timestampNanos }) => {
        const fields = Object.entries(meta ?? {}).filter(([name]) => !NOISE.has(name));
        const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
        process.stderr.write(
          `${JSON.stringify({ time, level: at, message, ...Object.fromEntries(fields.map(([k, v]) => [k, printable(v)])) })}\n`,
        );
      },
    ),
    // The worker process has its own: the runtime's would swallow a SIGTERM that comes before there is a worker.
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metricsAddress === undefined ? {} : { metrics: prometheusAt(metricsAddress) }),
    },
  });
}

function prometheusAt(bindAddress: string): NonNullable<TelemetryOptions['metrics']> {
  const buckets = Object.entries(histogramBuckets).map(([name, bounds]) => [name, [...bounds]]);
  return {
    prometheus: {
      bindAddress,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
      histogramBucketOverrides: Object.fromEntries(buckets) as Record<string, number[]>,
    },
  };
}

/** An error as its name and message. Its other fields may hold what it was about: a URL with a password. */
function printable(value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
}

/** Lets the process end: the native core would keep it alive, with or without a worker. */
export async function shutDownRuntime(): Promise<void> {
  await Runtime.instance().shutdown();
}
