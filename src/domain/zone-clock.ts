import { Temporal } from 'temporal-polyfill';

/** What clocks show in a time zone. All moments are milliseconds since 1970; a local time is one as if it were UTC. */
export interface ZoneClock {
  /** East of Greenwich. */
  offsetAt(moment: number): number;
  /**
   * The first moment at which clocks show a local time. It may come twice, or be skipped: then it is the first moment
   * after the gap.
   */
  firstMoment(local: number): number;
  /** The time between two changes of the offset that holds a moment, half-open. */
  steadyTime(moment: number): SteadyTime;
}

export interface SteadyTime {
  readonly from: number;
  readonly until: number;
  readonly offset: number;
}

const HOUR_MS = 3_600_000;

/** No clock is, or ever was, further from Greenwich (Manila and Alaska, before they changed the side of the date line). */
const MOST_OFFSET_MS = 16 * HOUR_MS;

const clocks = new Map<string, ZoneClock>();

export function zoneClock(timeZone: string): ZoneClock {
  const known = clocks.get(timeZone) ?? createClock(timeZone);
  clocks.set(timeZone, known);
  return known;
}

/** Whether clocks were never changed since 1970, nor will be. */
export function isSteady(timeZone: string): boolean {
  return zoneClock(timeZone).steadyTime(0).until === Infinity;
}

/**
 * Asking `Temporal` takes about 50 µs, and a plan of 100,000 hours asks several times for each: between two changes the
 * offset is remembered.
 */
function createClock(timeZone: string): ZoneClock {
  const known: SteadyTime[] = [];
  let last: SteadyTime | undefined;
  const steadyTime = (moment: number): SteadyTime => {
    const holds = (time: SteadyTime) => time.from <= moment && moment < time.until;
    if (last && holds(last)) return last;
    last = known.find(holds);
    if (!last) known.push((last = readSteadyTime(timeZone, moment)));
    return last;
  };
  return {
    steadyTime,
    offsetAt: (moment) => steadyTime(moment).offset,
    firstMoment(local) {
      for (let time = steadyTime(local - MOST_OFFSET_MS); ; time = steadyTime(time.until)) {
        const moment = local - time.offset;
        if (moment < time.until) return Math.max(moment, time.from);
      }
    },
  };
}

function readSteadyTime(timeZone: string, moment: number): SteadyTime {
  const zoned = (at: number) => Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
  // "previous" is strictly before, and the moment itself may be a change.
  const before = zoned(Math.ceil(moment) + 1).getTimeZoneTransition('previous');
  const after = zoned(Math.floor(moment)).getTimeZoneTransition('next');
  return {
    from: before?.epochMilliseconds ?? -Infinity,
    until: after?.epochMilliseconds ?? Infinity,
    offset: zoned(Math.floor(moment)).offsetNanoseconds / 1e6,
  };
}
