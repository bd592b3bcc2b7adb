import { userInfo } from 'node:os';
import { connect } from './connection.js';
import type { CliIo, Output } from './io.js';
import { readLocalDefinitions } from './local-definitions.js';

/** The commands' world as it really is. */
export function processIo(): CliIo {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    canAnswer: process.stdin.isTTY === true,
    env: process.env,
    userName: userName(),
    pollMs: 500,
    connect: () => connect(process.env),
    readLocalDefinitions: () => readLocalDefinitions(process.env),
    confirm,
    onInterrupt(listener) {
      process.on('SIGINT', listener);
      // A script that started us over an IPC channel is gone: as if its terminal had been closed.
      if (process.channel) process.on('disconnect', listener);
      return () => {
        process.off('SIGINT', listener);
        process.off('disconnect', listener);
      };
    },
  };
}

/** An account without an entry in the user table has no name: in containers that is usual. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

async function confirm(question: string, output: Output): Promise<boolean> {
  const { confirm: ask } = await import('@clack/prompts');
  const answer = await ask({ message: question, output: output === process.stderr ? process.stderr : process.stdout });
  return answer === true;
}
