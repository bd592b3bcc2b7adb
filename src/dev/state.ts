import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateJson, writePrivateJson } from './private-json.js';
import { isStillThatProcess, recordProcess } from './processes.js';

export const DEFAULT_FOLDER = '.backfill';

/** Where the parts of a running stack are. */
export interface State {
  /** Of the process that owns them. */
  readonly pid: number;
  /** Of that process. */
  readonly identity: string;
  readonly temporalAddress: string;
  readonly uiUrl: string;
  /** Holds the password. */
  readonly databaseUrl: string;
  /** ISO 8601. */
  readonly startedAt: string;
}

/** Undefined where no stack runs: none was started, or its owner was killed. */
export function readState(folder: string = DEFAULT_FOLDER): State | undefined {
  const state = readPrivateJson<State>(stateFile(folder));
  return state && isStillThatProcess({ ...state, command: '' }) ? state : undefined;
}

/** Says that this process runs the stack. */
export function writeState(folder: string, parts: Pick<State, 'temporalAddress' | 'uiUrl' | 'databaseUrl'>): void {
  const { temporalAddress, uiUrl, databaseUrl } = parts;
  const identity = recordProcess(process.pid)?.identity ?? '';
  const startedAt = new Date().toISOString();
  const state: State = { pid: process.pid, identity, temporalAddress, uiUrl, databaseUrl, startedAt };
  writePrivateJson(stateFile(folder), state);
}

export function removeState(folder: string): void {
  rmSync(stateFile(folder), { force: true });
}

function stateFile(folder: string): string {
  return join(folder, 'state.json');
}
