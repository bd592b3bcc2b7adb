import { styleText } from 'node:util';
import type { RecordState } from '../domain/table-state.js';
import type { Output } from './io.js';

const colours = {
  current: 'green',
  outdated: 'yellow',
  provisional: 'cyan',
  failed: 'red',
  gone: 'magenta',
  unrecorded: 'dim',
} as const satisfies Record<RecordState, Parameters<typeof styleText>[0]>;

/** Colour on a terminal only, and not for those who asked for none (no-color.org). */
export function paintOn({ isTTY }: Output, env: NodeJS.ProcessEnv): (state: RecordState, mark: string) => string {
  const isColoured = isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return (state, mark) => (isColoured ? styleText(colours[state], mark, { validateStream: false }) : mark);
}
