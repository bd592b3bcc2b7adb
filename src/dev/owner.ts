import { linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateJson } from './private-json.js';
import { isStillThatProcess, type ProcessRecord, readPidFile, recordProcess } from './processes.js';

/**
 * Makes this process the one owner of a folder.
 * @throws {Error} another one owns it and lives
 * @returns gives it up
 */
export function ownFolder(folder: string): () => void {
  const file = join(folder, 'owner.pid');
  const me = recordProcess(process.pid);
  if (me === undefined)
    throw new Error('This system does not tell when a process started (/proc, ps); use another one');
  for (;;) {
    refuseIfOwned(folder, file);
    removeDead(folder, file);
    if (create(file, me)) return () => rmSync(file, { force: true });
  }
}

/** Undefined where the owner is gone. */
export function ownerOf(folder: string): ProcessRecord | undefined {
  const owner = readPidFile(join(folder, 'owner.pid'));
  return owner && isStillThatProcess(owner) ? owner : undefined;
}

function refuseIfOwned(folder: string, file: string): void {
  const owner = readPidFile(file);
  if (owner === undefined || !isStillThatProcess(owner)) return;
  throw new Error(
    `Process ${owner.pid} runs the stack of ${folder}; use it, stop it (kill ${owner.pid}), or choose another folder`,
  );
}

/** By a rename, which only one of two can do: each would otherwise remove what the other has just written. */
function removeDead(folder: string, file: string): void {
  const aside = `${file}.${process.pid}.dead`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  try {
    const moved = readPidFile(aside);
    if (moved && isStillThatProcess(moved)) {
      linkSync(aside, file);
      refuseIfOwned(folder, file);
    }
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Linked into place: whole at once, and only where there is none. */
function create(file: string, me: ProcessRecord): boolean {
  const half = `${file}.${process.pid}.new`;
  writePrivateJson(half, me);
  try {
    linkSync(half, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(half, { force: true });
  }
}
