/** What fits a terminal that nobody has widened. */
const WIDTH = 80;

export function title(text: string): void {
  console.log(`\n── ${text}\n`);
}

/** A command as it is typed, with a line break before an option where the line would be too long. */
export function commandLine(...words: readonly string[]): string {
  const lines: string[] = [];
  let line = '';
  for (const option of options(words)) {
    const longer = line === '' ? option : `${line} ${option}`;
    const isTooLong = line !== '' && longer.length + ' \\'.length + '$ '.length > WIDTH;
    if (isTooLong) lines.push(line);
    line = isTooLong ? option : longer;
  }
  return [...lines, line].join(' \\\n    ');
}

/** Each option with its value. */
function options(words: readonly string[]): string[] {
  const groups: string[] = [];
  for (const word of words.map(shellWord)) {
    const last = groups.at(-1);
    if (last === undefined || word.startsWith('--') || (last.startsWith('--') && last.includes(' '))) groups.push(word);
    else groups[groups.length - 1] = `${last} ${word}`;
  }
  return groups;
}

function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
