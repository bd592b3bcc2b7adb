/** Something that this process started. */
export interface Stoppable {
  stop(): Promise<void>;
  /** At once, whatever is lost. */
  kill(): Promise<void>;
}

/** Ends the last started first, and the others also when one does not end; then that one's error is thrown. */
export async function stopAll(started: readonly Stoppable[], how: 'stop' | 'kill' = 'stop'): Promise<void> {
  const errors: unknown[] = [];
  for (const part of started.toReversed()) await part[how]().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
