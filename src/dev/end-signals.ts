const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface EndWatch {
  /** Settles at the first signal, or when the parent that holds an IPC channel to us is gone. */
  readonly first: Promise<undefined>;
  /** Called at each further signal: the person is in a hurry. */
  onSecond(listener: () => void | Promise<void>): void;
  dispose(): void;
}

/** Watches for the end from now on, and keeps the process alive until then. */
export function waitForEnd(): EndWatch {
  let first: (value: undefined) => void = () => {};
  let hurry: () => void | Promise<void> = () => {};
  let seen = 0;
  const onSignal = () => {
    seen += 1;
    if (seen === 1) first(undefined);
    else void hurry();
  };
  const onDisconnect = () => first(undefined);
  // Neither a signal's listener nor a pending promise keeps Node alive.
  const alive = setInterval(() => {}, 60_000);
  for (const signal of signals) process.on(signal, onSignal);
  if (process.connected) process.on('disconnect', onDisconnect);
  // With a channel that is closed already, the parent ended while this process was starting.
  else if (process.send) setImmediate(onDisconnect);
  // Whoever reads what is said may be gone first, as in a terminal that was closed: there is still much to stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    first: new Promise((resolve) => (first = resolve)),
    onSecond: (listener) => (hurry = listener),
    dispose() {
      clearInterval(alive);
      for (const signal of signals) process.off(signal, onSignal);
      process.off('disconnect', onDisconnect);
    },
  };
}
