import { setTimeout as sleep } from 'node:timers/promises';

/** Far beyond what anything takes: who waits this long has found a fault, not a slow machine. */
const DEADLINE_MS = 60_000;

type Nothing = undefined | null | false;

/** Asks again and again until there is an answer. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | Nothing> | T | Nothing,
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  for (const start = performance.now(); performance.now() - start < deadlineMs; await sleep(20)) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
  }
  throw new Error(`Waited ${deadlineMs / 1000} s in vain for: ${what}`);
}
