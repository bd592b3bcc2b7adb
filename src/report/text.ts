/** What fits a terminal that nobody has widened. */
export const WIDTH = 80;

/**
 * Breaks a text at spaces. `first` stands before the first line, spaces of the same width before the others. A word
 * that is longer than a line stays whole: it is a key, a name or a link that people copy.
 */
export function wrap(text: string, first = ''): string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (!isEmpty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = ' '.repeat(first.length) + word;
    } else {
      line += isEmpty ? word : ` ${word}`;
    }
    isEmpty = false;
  }
  return [...lines, line.trimEnd()];
}

export function items(texts: readonly string[]): string[] {
  return texts.flatMap((text) => wrap(text, '  - '));
}

/** A title and its items; nothing where there are none. */
export function listUnder(title: string, texts: readonly string[]): string[] {
  return texts.length === 0 ? [] : [title, ...items(texts)];
}

export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

/** Rows under their titles, two spaces apart, indented by two. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const all = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)));
  return all.map((row) => {
    const cells = columns.map(({ align }, i) => pad(row[i] ?? '', widths[i] ?? 0, align));
    return `  ${cells.join('  ')}`.trimEnd();
  });
}

/** A name and its value a line, the values all at one column. */
export function facts(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length)) + 2;
  return pairs.flatMap(([name, value]) => wrap(value, `  ${name.padEnd(width)}`));
}

function pad(text: string, width: number, align: Column['align']): string {
  return align === 'left' ? text.padEnd(width) : text.padStart(width);
}
