import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** For its owner's eyes only (it holds a password), and whole at every moment. */
export function writePrivateJson(file: string, value: object): void {
  const half = `${file}.${process.pid}`;
  writeFileSync(half, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(half, file);
}

/**
 * Undefined where there is none. What is in it is believed: this program wrote it.
 * @throws where it is no JSON, because to take a stack that runs for none would start a second one
 */
export function readPrivateJson<T extends object>(file: string): T | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new Error(`${file} is damaged; remove it and start again what you started`, { cause: error });
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
