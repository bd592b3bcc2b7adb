/** A process that owns a stack, for tests that kill it. Argument: the folder. Prints the stack once all runs. */
import { runDev } from '../../src/dev/dev.js';

process.exitCode = await runDev({
  ...(process.argv[2] === undefined ? {} : { folder: process.argv[2] }),
  log: console.error,
  worker: false,
  onReady: (stack) => console.log(JSON.stringify(stack)),
});
