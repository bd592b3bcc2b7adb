import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Whose process it is. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

const NAME = 'postgres';

/**
 * The user under which PostgreSQL is to run; undefined: ours. It refuses to run as root, so that then it gets a user of
 * its own, or goes on as the owner of a data folder that is there.
 */
export function chooseServerUser(dataFolder: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = existsSync(dataFolder) ? statSync(dataFolder) : undefined;
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return findUser() ?? createUser();
}

/** @throws {Error} the user cannot get at a path, most often because it lies below `/root` */
export function checkReach(user: ServerUser | undefined, path: string, what: string): void {
  if (user === undefined) return;
  const closed = parents(path).find((folder) => !mayEnter(user, folder));
  if (closed === undefined) return;
  throw new Error(
    `PostgreSQL does not run as root, and the user ${NAME} under which it runs instead may not enter ${closed}, where ` +
      `${what} is; work in another folder (/srv, /tmp), as another user, or open it: chmod o+x ${closed}`,
  );
}

function findUser(): ServerUser | undefined {
  try {
    return { uid: askId('-u'), gid: askId('-g') };
  } catch {
    return undefined;
  }
}

function askId(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, NAME], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}

function createUser(): ServerUser {
  try {
    execFileSync('groupadd', ['--system', '--force', NAME], { stdio: 'ignore' });
    execFileSync('useradd', ['--system', '--gid', NAME, '--no-create-home', NAME], { stdio: 'ignore' });
  } catch (error) {
    const message = `PostgreSQL does not run as root, and no user ${NAME} could be made for it; make one, or work as another user`;
    throw new Error(message, { cause: error });
  }
  return { uid: askId('-u'), gid: askId('-g') };
}

/** From the root downwards. */
function parents(path: string): string[] {
  const parent = dirname(resolve(path));
  return parent === path ? [] : [...parents(parent), parent];
}

/** By the mode bits, which is how such folders are closed in practice. */
function mayEnter({ uid, gid }: ServerUser, folder: string): boolean {
  const { uid: owner, gid: group, mode } = statSync(folder);
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  return (mode & bit) !== 0;
}
