import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** For its owner's eyes only (it holds a password), and whole at every moment. */
export function writePrivateJson(file: string, value: object): void {
  const half = `${file}.${process.pid}`;
  writeFileSync(half, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(half, file);
}

/** Undefined where there is none, or one that is no JSON. What is in it is believed: this program wrote it. */
export function readPrivateJson<T extends object>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
