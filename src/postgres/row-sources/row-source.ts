import type { Bringing, RowSource } from './bringing.js';
import { fillFromBuild } from './from-build.js';
import { fillFromCode } from './from-code.js';
import { fillFromDatabase } from './from-database.js';

export function rowSourceOf(bringing: Bringing): RowSource {
  const { origin } = bringing.definition;
  if (origin.kind === 'code') return (tx, target) => fillFromCode(tx, target, { ...bringing, origin });
  const { build, source } = origin;
  if (source === null) return (tx, target) => fillFromBuild(tx, target, build);
  return (tx, target) => fillFromDatabase(tx, target, { ...bringing, build, source });
}
