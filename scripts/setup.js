/**
 * Makes this folder ready to run: packages, build, Temporal CLI. npm runs it before `npm start` and `npm test`; it says
 * what it does and is silent where nothing is to be done. Node's own modules only, as it runs before `npm ci`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTemporalCli, temporalCliMissing } from '../src/dev/temporal-cli.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.built');

if (process.env['BACKFILL_SKIP_SETUP'] !== '1') {
  try {
    checkNode();
    installPackages();
    build();
    if ((await findTemporalCli({ log: say })) === undefined) throw new Error(temporalCliMissing);
  } catch (error) {
    say(explain(error));
    process.exitCode = 1;
  }
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 20)) return;
  throw new Error(`Node ${process.versions.node} is too old; install Node 20.20 or newer (https://nodejs.org)`);
}

function installPackages() {
  if (areInstalled()) return;
  say('Installing packages (npm ci) …');
  // All kinds, also where npm is told to leave out the tools: without them nothing can be built.
  const { code, output } = npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  if (code !== 0) throw new Error(`${whyNpmFailed(output)}\n${lastLines(output)}`);
}

/** Compares what is locked with what npm noted when it installed: dates say little after a checkout. */
function areInstalled() {
  const noted = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(noted)) return false;
  const installed = readLock(noted);
  return Object.entries(readLock(join(root, 'package-lock.json'))).every(([path, locked]) => {
    const there = installed[path];
    // Packages for other systems are locked, too.
    return path === '' || (there === undefined ? locked.optional === true : there.version === locked.version);
  });
}

/**
 * @param {string} file
 * @returns {Record<string, { readonly version?: string, readonly optional?: boolean }>}
 */
function readLock(file) {
  const lock = /** @type {{ packages: ReturnType<typeof readLock> }} */ (JSON.parse(readFileSync(file, 'utf8')));
  return lock.packages;
}

function build() {
  if (existsSync(stamp) && newest(sources()) <= statSync(stamp).mtimeMs) return;
  say('Building (npm run build) …');
  const start = new Date();
  const { code, output } = npm(['run', 'build']);
  if (code !== 0) throw new Error(`The build failed; correct what it says and try again\n${output.trim()}`);
  writeFileSync(stamp, '');
  // What was edited during the build is newer than the build.
  utimesSync(stamp, start, start);
}

function sources() {
  const configs = readdirSync(root).filter((name) => /^(package|tsconfig.*)\.json$/.test(name));
  return [...configs, 'src', 'sql'].map((name) => join(root, name));
}

/**
 * Of files and folders: a folder is newer when a file in it was deleted.
 * @param {readonly string[]} paths
 * @returns {number}
 */
function newest(paths) {
  const times = paths.map((path) => {
    const { mtimeMs } = statSync(path);
    if (!statSync(path).isDirectory()) return mtimeMs;
    return Math.max(mtimeMs, newest(readdirSync(path).map((name) => join(path, name))));
  });
  return Math.max(0, ...times);
}

/**
 * @param {readonly string[]} args
 * @returns {{ code: number | null, output: string }}
 */
function npm(args) {
  // The npm that runs this script, where there is one: the first on the PATH may be another.
  const cli = process.env['npm_execpath'] ?? '';
  const [command, first] = basename(cli).startsWith('npm') ? [process.execPath, [cli]] : ['npm', []];
  const options = { cwd: root, encoding: /** @type {const} */ ('utf8'), maxBuffer: 64 * 1024 * 1024 };
  const { status, stdout, stderr, error } = spawnSync(command, [...first, ...args], options);
  if (error) throw new Error(`npm cannot be run (${error.message}); install it with Node (https://nodejs.org)`);
  return { code: status, output: stdout + stderr };
}

/** @param {string} output */
function whyNpmFailed(output) {
  if (/ENOSPC/.test(output))
    return 'The packages could not be installed: the disk is full; make room (700 MB) and try again';
  if (/EACCES|EPERM|EROFS/.test(output))
    return 'The packages could not be installed: no right to write to node_modules or npm’s cache; correct their owner';
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|network/i.test(output)) {
    return 'The packages could not be installed: the registry cannot be reached; check the network or npm’s proxy and registry settings';
  }
  return 'The packages could not be installed; what npm said last:';
}

/** @param {string} output */
function lastLines(output) {
  return output.trim().split('\n').slice(-15).join('\n');
}

/** @param {unknown} error */
function explain(error) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC') return 'The disk is full; make room and try again';
  if (code === 'EACCES' || code === 'EROFS') return `${root} cannot be written; give yourself the right to write there`;
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`);
}
