/**
 * A slice is what one activity writes: small partitions one after the other, each in its own transaction, and none begun
 * after this long. It is how old the figures are that people see of a run.
 */
export const SLICE_MS = 1_000;

/** Its keys are in the history twice, and those that a killed worker had written are asked for again. */
const MOST_IN_A_SLICE = 50;

/** Up to a month of days, people see every partition as an activity of its own. */
const LONG_RUN = 32;

/** A slice is at most a quarter of what waits: towards the end of a page, places at work end at about the same time. */
const SHARE = 4;

/**
 * How many partitions the next slice gets. A workflow task and an activity were measured to take 16 ms where the
 * transaction takes 50: what is fast shares them, what is slow has an activity for itself.
 */
export class Pace {
  readonly #share: number;
  #most = 1;

  /**
   * @param total partitions of the whole run
   * @param width slices side by side
   */
  constructor(total: number, width: number) {
    this.#share = total < LONG_RUN ? Infinity : Math.max(SHARE, 2 * width);
  }

  /** @param waiting partitions of which none is begun */
  take(waiting: number): number {
    return Math.max(1, Math.min(this.#most, Math.floor(waiting / this.#share)));
  }

  /** Twice as many at most, as long as all of the last were written in time; one again where one failed or took long. */
  wrote({ asked, written, ms }: { readonly asked: number; readonly written: number; readonly ms: number }): void {
    const inTime = written === 0 ? 0 : Math.floor((SLICE_MS * written) / Math.max(1, ms));
    this.#most = written < asked ? 1 : Math.max(1, Math.min(2 * asked, inTime, MOST_IN_A_SLICE));
  }
}
