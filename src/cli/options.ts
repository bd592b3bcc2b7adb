import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type BackfillRequest,
  type OverlapMode,
  failureModes,
  overlapModes,
  publishModes,
  selections,
} from '../domain/request.js';
import { parseDuration } from '../domain/duration.js';
import { CliRefusal } from './exit.js';
import type { CliIo } from './io.js';

/** The options of a request as the command line gives them: checked by the client, but for their form. */
export interface RequestFlags {
  readonly from?: string;
  readonly to?: string;
  readonly widen?: boolean;
  readonly select?: NonNullable<BackfillRequest['select']>;
  readonly exclude?: readonly string[];
  readonly concurrency?: number;
  readonly publish?: NonNullable<BackfillRequest['publish']>;
  readonly onFailure?: NonNullable<BackfillRequest['onFailure']>;
  readonly allowIncomplete?: boolean;
  readonly allowDefinitionChange?: boolean;
}

/** What is said of a run beside what it writes. */
export interface WhoFlags {
  readonly reason?: string;
  readonly requestedBy?: string;
  readonly onOverlap?: OverlapMode;
}

export interface JsonFlag {
  readonly json?: boolean;
}

export const bothIncluded = 'Both ends of the range are included.';

/** What `--from` and `--to` may be. */
export const keyForms = `
Keys, by the grain of the table:
  hour     2026-03-01T05Z, the moment at which it begins, in UTC
           (2026-03-01T05:30Z in zones that are not whole hours from it)
  day      2026-03-01          week   2026-W09 (ISO)
  month    2026-03             quarter   2026-Q1         year   2026
A partition of several, "every: 7", has the key of its first. A date stands for
the whole day in the table's zone: of hours from its first to its last. A range
that cuts a longer partition is refused, or with --widen takes it whole.
`;

export function addRequestOptions(command: Command): Command {
  return command
    .option('--from <key>', 'first partition of the range, or a date')
    .option('--to <key>', 'last partition of the range, included, or a date')
    .option('--widen', 'take partitions whole that the range cuts')
    .addOption(new Option('--select <which>', 'which partitions of the range (default: all)').choices(selections))
    .option('--exclude <keys>', 'keys to leave alone, separated by commas', splitKeys)
    .option('--concurrency <n>', 'partitions in flight at once (default: 1)', wholeNumber)
    .addOption(new Option('--publish <how>', 'order of publishing (default: in-order)').choices(publishModes))
    .addOption(new Option('--on-failure <what>', 'after a failed partition (default: stop)').choices(failureModes))
    .option('--allow-incomplete', 'also write the partition that has not ended yet')
    .option('--allow-definition-change', 'go on when a worker with another definition takes over');
}

export function addWhoOptions(command: Command): Command {
  return command
    .option('--reason <text>', 'why, shown in the Web UI and kept in the ledger')
    .option('--requested-by <name>', 'who asks (default: the name of your account)')
    .addOption(
      new Option('--on-overlap <what>', 'when another run has a part of the range (default: refuse)').choices(
        overlapModes,
      ),
    );
}

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print one JSON document on stdout');
}

export function requestOf(io: CliIo, table: string, flags: RequestFlags & WhoFlags): BackfillRequest {
  const { from, to, ...given } = requestFlags(flags);
  if (from === undefined || to === undefined) {
    throw new CliRefusal('--from and --to are needed; both ends of the range are included');
  }
  return { table, from, to, ...defined(given), ...whoOf(io, flags) };
}

/** Those that make a request; the others say who asks, and what is done with the answer. */
export function requestFlags(
  flags: RequestFlags,
): Required<{ [K in keyof RequestFlags]: RequestFlags[K] | undefined }> {
  const { from, to, widen, select, exclude, concurrency, publish, onFailure } = flags;
  const { allowIncomplete, allowDefinitionChange } = flags;
  const how = { select, exclude, concurrency, publish, onFailure, allowIncomplete, allowDefinitionChange };
  return { from, to, widen, ...how };
}

export function whoOf(io: CliIo, { reason, requestedBy = io.userName, onOverlap }: WhoFlags): WhoFlags {
  return defined({ reason, requestedBy, onOverlap });
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function splitKeys(text: string): string[] {
  return text
    .split(',')
    .map((key) => key.trim())
    .filter(Boolean);
}

export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It is not a whole number.');
  return Number(text);
}

/** A date, a time, or a span before now, as a moment. */
export function moment(text: string): Date {
  const span = parseDuration(text);
  if (span !== undefined) return new Date(Date.now() - span);
  const isWritten = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z?)?$/.test(text);
  const time = isWritten ? Date.parse(/\dT.*[^Z]$/.test(text) ? `${text}Z` : text) : NaN;
  if (Number.isNaN(time)) throw new InvalidArgumentError('Write a date as 2026-03-01, or a span as "7 days".');
  return new Date(time);
}
