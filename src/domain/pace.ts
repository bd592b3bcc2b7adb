/**
 * A slice is what one activity writes: small partitions one after the other, each in its own transaction, and none begun
 * after this long. It is how old the figures are that people see of a run.
 */
export const SLICE_MS = 1_000;

/** Its keys are in the history twice, and those that a killed worker had written are asked for again. */
const MOST_IN_A_SLICE = 50;

/** Up to a month of days, people see every partition as an activity of its own. */
const LONG_RUN = 32;

/**
 * How many partitions the next slice gets. A workflow task and an activity were measured to take 16 ms where the
 * transaction takes 50: what is fast shares them, what is slow has an activity for itself.
 */
export class Pace {
  readonly #total: number;
  readonly #width: number;
  #most = 1;

  /**
   * @param total partitions of the whole run
   * @param width slices side by side
   */
  constructor(total: number, width: number) {
    this.#total = total;
    this.#width = width;
  }

  /**
   * No more than the others leave of it, so that places at work end at about the same time.
   * @param waiting partitions of the page of which none is begun
   */
  take(waiting: number): number {
    if (this.#total < LONG_RUN) return 1;
    return Math.max(1, Math.min(this.#most, Math.floor(waiting / this.#width)));
  }

  /**
   * As many as the last would have fitted into a slice. Where one failed it is one again, which is then an activity's
   * first and only.
   */
  wrote({ asked, written, ms }: { readonly asked: number; readonly written: number; readonly ms: number }): void {
    const isTrouble = written < asked && ms < SLICE_MS;
    const fits = Math.floor((SLICE_MS * written) / Math.max(1, ms));
    this.#most = isTrouble ? 1 : Math.max(1, Math.min(fits, MOST_IN_A_SLICE));
  }
}
