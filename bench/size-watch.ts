import { setTimeout as sleep } from 'node:timers/promises';
import type { BackfillHandle } from 'temporal-backfill';

/** How a run answered while it ran. */
export interface Answers {
  readonly asked: number;
  readonly failed: readonly string[];
  readonly slowestMs: number;
  readonly medianMs: number;
  readonly slowestStatusMs: number;
}

const ASK_EVERY_MS = 500;
/** A command costs half a second of a processor: not with every question. */
const COMMAND_EVERY = 60;

/** Asks again and again how far a run is, until it is told to stop. */
export function watch(handle: BackfillHandle, status: () => Promise<number>, log: (line: string) => void) {
  let isOver = false;
  const times: number[] = [];
  const commands: number[] = [];
  const failed: string[] = [];
  const ask = async () => {
    for (let n = 0; !isOver; n++, await sleep(ASK_EVERY_MS)) {
      const start = performance.now();
      try {
        const { state, done, total, rate } = await handle.progress();
        times.push(performance.now() - start);
        if (n % 120 === 0) log(`${state}: ${done} of ${total}, ${(rate ?? 0).toFixed(1)}/s`);
        if (n % COMMAND_EVERY === 0) commands.push(await status());
      } catch (error) {
        failed.push(`${Math.round(performance.now() - start)} ms: ${String(error)}`);
      }
    }
  };
  const asking = ask();
  return async (): Promise<Answers> => {
    isOver = true;
    await asking;
    const sorted = times.toSorted((a, b) => a - b).map(Math.round);
    return {
      asked: times.length + failed.length,
      failed,
      slowestMs: sorted.at(-1) ?? 0,
      medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
      slowestStatusMs: Math.round(Math.max(0, ...commands)),
    };
  };
}
