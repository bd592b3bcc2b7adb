import { linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writePrivateJson } from './private-json.js';
import { isStillThatProcess, type ProcessRecord, readPidFile, recordProcess } from './processes.js';
import { readState } from './state.js';

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

/** A stopping worker may take 20 seconds, and servers some more. */
const SETTLE_MS = 45_000;

/**
 * Waits for an owner that is on its way out: one killed terminal stops slower than the next `npm start` is typed. It is
 * told by the missing state file, which is there only while all runs.
 */
export async function waitForLeavingOwner(folder: string, log: (line: string) => void): Promise<void> {
  const deadline = Date.now() + SETTLE_MS;
  // An owner whose own parent was killed this moment has not heard of it yet.
  const firmAt = Date.now() + 1_500;
  for (let said = false; Date.now() < deadline; said = true) {
    const owner = ownerOf(folder);
    if (owner === undefined || (readState(folder) !== undefined && Date.now() > firmAt)) return;
    if (!said) log(`Waiting for process ${owner.pid}, which has the servers here, to stop …`);
    await sleep(200);
  }
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
