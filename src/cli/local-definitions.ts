import { existsSync } from 'node:fs';
import type { LocalDefinitions } from './io.js';

/** Loaded when asked for only: it runs the user's file, and takes a compiler. */
export async function readLocalDefinitions(env: NodeJS.ProcessEnv): Promise<LocalDefinitions | undefined> {
  const { configFile } = await import('../config/environment.js');
  const file = configFile(env);
  if (!existsSync(file)) return undefined;
  const { loadConfig } = await import('../config/load.js');
  try {
    const { definitions } = await loadConfig(file);
    return { file, problem: null, digests: new Map(definitions.map(({ name, digest }) => [name, digest])) };
  } catch (error) {
    return { file, problem: error instanceof Error ? error.message : String(error), digests: new Map() };
  }
}
