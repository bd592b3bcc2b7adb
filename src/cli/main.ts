#!/usr/bin/env node
import { COMPLETE } from './complete.js';
import { processIo } from './process-io.js';
import { runCli } from './program.js';

/** As a shell counts it: 128 and the number of SIGPIPE. */
const BROKEN_PIPE = 141;

// Whoever read the output, `head` for one, has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A command that has something to stop first listens, too.
  if (process.stdout.listenerCount('error') > 1) return;
  if (error.code !== 'EPIPE') throw error;
  process.exit(BROKEN_PIPE);
});

const args = process.argv.slice(2);
const exitCode = await runCli(args, processIo());
// A question that was given up is still open; who presses Tab does not wait for its end.
if (args[0] === COMPLETE) process.exit(exitCode);
process.exitCode = exitCode;
