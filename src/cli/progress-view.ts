import type { Progress } from '../domain/progress.js';
import { progressBarLine, progressLine, progressMark } from '../report/progress-text.js';
import type { Output } from './io.js';

/** Where a watched run is shown. */
export interface ProgressView {
  show(progress: Progress): void;
  /** A line of its own, about the watching and not the run. */
  notice(text: string): void;
  end(): void;
}

export function createView(output: Output): ProgressView {
  return output.isTTY ? barView(output) : lineView(output);
}

/** A line for each change of what is done, and not for each look. */
function lineView(output: Output): ProgressView {
  let last = '';
  return {
    show(progress) {
      const mark = progressMark(progress);
      if (mark !== last) output.write(`${progressLine(progress)}\n`);
      last = mark;
    },
    notice: (text) => void output.write(`${text}\n`),
    end: () => undefined,
  };
}

const CLEAR_LINE = '\r\u001b[2K';

/**
 * One line, drawn over. Not by a library: the one for the questions reads the keyboard while it draws and ends the
 * process on Ctrl-C, which has a meaning here.
 */
function barView(output: Output): ProgressView {
  let drawn = '';
  const draw = (line: string) => {
    if (line !== drawn) output.write(CLEAR_LINE + line);
    drawn = line;
  };
  return {
    show: (progress) => draw(progressBarLine(progress, output.columns)),
    notice(text) {
      output.write(`${CLEAR_LINE}${text}\n`);
      drawn = '';
    },
    end() {
      if (drawn) output.write('\n');
      drawn = '';
    },
  };
}

/** For waiting without a bar. */
export function noticesOnly(output: Output): ProgressView {
  return { ...lineView(output), show: () => undefined };
}
