import { posix } from 'node:path';
import { type LayerRule, doors, isAllowedPackage, layerOf, layers, packageName } from './layers.js';
import { type SourceFacts, type SourceImport, readFacts } from './source-file.js';

/** The files of `src` by their path from the root of the repository, with what was read from them. */
export type Sources = ReadonlyMap<string, SourceFacts>;

/** Each rule lists its violations as `file -> what`. */
export type Rule = (sources: Sources) => string[];

export function readSources(texts: Iterable<readonly [file: string, text: string]>): Sources {
  return new Map([...texts].map(([file, text]) => [file, readFacts(file, text)]));
}

export const findUnknownLayers: Rule = (sources) =>
  [...sources.keys()].filter((file) => layerOf(file) === undefined).map((file) => `${file} -> no layer of the table`);

export const findForbiddenImports: Rule = (sources) =>
  [...sources].flatMap(([file, facts]) =>
    facts.imports.flatMap((one) => {
      const why = whyForbidden(sources, file, one);
      return why === undefined ? [] : [`${file} -> ${one.specifier ?? '?'} (${why})`];
    }),
  );

function whyForbidden(sources: Sources, file: string, { specifier, kind }: SourceImport): string | undefined {
  const layer = layerOf(file);
  if (layer === undefined) return undefined;
  const rule: LayerRule = layers[layer];
  if (specifier === undefined) return rule.computed ? undefined : 'import() of an expression';
  if (!isRelative(specifier)) {
    return isAllowedPackage(rule, specifier) ? undefined : `${packageName(specifier)} is not for ${layer}`;
  }
  const target = resolve(sources, file, specifier);
  const other = target === undefined ? undefined : layerOf(target);
  if (other === undefined) return 'no such file of src';
  if (other === layer || rule.loads.includes(other)) return undefined;
  const late = rule.loadsLate?.includes(other) ?? false;
  if (kind === 'name') return late || rule.names?.includes(other) ? undefined : `${layer} may not name ${other}`;
  if (kind === 'load-late' && late) return undefined;
  return late ? `${layer} may load ${other} with import() only` : `${layer} may not load ${other}`;
}

/** Keys are opaque to workflows; the polyfill in the sandbox would also cost memory for each cached run. */
export const findZoneArithmeticInWorkflows: Rule = (sources) =>
  [...sources.keys()]
    .filter((file) => layerOf(file) === 'workflows')
    .map((file) => pathToPackage(sources, file, 'temporal-polyfill'))
    .filter((path) => path !== undefined)
    .map((path) => path.join(' -> '));

function pathToPackage(sources: Sources, start: string, name: string): readonly string[] | undefined {
  const seen = new Set<string>();
  const visit = (path: readonly string[], file: string): readonly string[] | undefined => {
    if (seen.has(file)) return undefined;
    seen.add(file);
    for (const { specifier, kind } of sources.get(file)?.imports ?? []) {
      if (specifier === undefined || kind === 'name') continue;
      if (packageName(specifier) === name) return [...path, file, specifier];
      const target = resolve(sources, file, specifier);
      const found = target && visit([...path, file], target);
      if (found) return found;
    }
    return undefined;
  };
  return visit([], start);
}

/** Cycles of types count too: two files that need each other's words are one file, or want a third. */
export const findCycles: Rule = (sources) => {
  const cycles = new Set<string>();
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      cycles.add([...path.slice(path.indexOf(file)), file].join(' -> '));
      return;
    }
    if (done.has(file)) return;
    for (const target of targetsOf(sources, file)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of sources.keys()) visit(file, []);
  return [...cycles];
};

export const findEnums: Rule = (sources) => list(sources, (facts) => facts.enums);

export const findDefaultExports: Rule = (sources) => list(sources, (facts) => facts.defaultExports);

export const findReExports: Rule = (sources) =>
  list(sources, (facts, file) => (doors.includes(file) ? [] : facts.reExports));

export const findClockReadsInDomain: Rule = (sources) =>
  list(sources, (facts, file) => (layerOf(file) === 'domain' ? facts.clockReads : []));

export const findCodeInIndex: Rule = (sources) =>
  list(sources, (facts, file) =>
    layerOf(file) === 'index' && facts.ownStatements > 0 ? [`${facts.ownStatements} statements of its own`] : [],
  );

function list(sources: Sources, pick: (facts: SourceFacts, file: string) => readonly string[]): string[] {
  return [...sources].flatMap(([file, facts]) => pick(facts, file).map((what) => `${file} -> ${what}`));
}

function targetsOf(sources: Sources, file: string): string[] {
  const imports = sources.get(file)?.imports ?? [];
  return imports.flatMap(({ specifier }) => (specifier ? (resolve(sources, file, specifier) ?? []) : []));
}

/** `./range.js` is written in `./range.ts` or, in JavaScript, in `./range.js`. */
function resolve(sources: Sources, file: string, specifier: string): string | undefined {
  if (!isRelative(specifier)) return undefined;
  const path = posix.join(posix.dirname(file), specifier);
  return [path.replace(/\.js$/, '.ts'), path].find((one) => sources.has(one));
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.');
}
