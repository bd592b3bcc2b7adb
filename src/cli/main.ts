#!/usr/bin/env node
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

process.exitCode = await runCli(process.argv.slice(2), processIo());
