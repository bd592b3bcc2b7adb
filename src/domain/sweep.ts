/** A copy of replaced rows that a sweep has dropped. */
export interface DroppedCopy {
  /** Of the run that had replaced them. */
  readonly planId: string;
  readonly table: string;
  /** Bytes that it took. */
  readonly bytes: number;
}

/** The result of the workflow `sweep`. */
export interface SweepResult {
  readonly dropped: readonly DroppedCopy[];
  /** Copies whose time is over and that are still there, with what kept them; the next sweep tries again. */
  readonly left: readonly { readonly planId: string; readonly table: string; readonly why: string }[];
}
