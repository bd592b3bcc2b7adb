/** What fits a terminal that nobody has widened. */
const WIDTH = 80;

export function title(text: string): void {
  console.log(`\n── ${text}\n`);
}

/** Prints a command as a user types it; a long one is broken before an option. */
export function printCommand(words: readonly string[]): void {
  const [first = '', ...options] = words
    .map(shellWord)
    .join(' ')
    .split(/ (?=--)/);
  const lines = [`$ ${first}`];
  for (const option of options) {
    const longer = `${lines.at(-1)} ${option}`;
    if (`${longer} \\`.length <= WIDTH) lines.splice(-1, 1, longer);
    else lines.push(`    ${option}`);
  }
  console.log(`${lines.join(' \\\n')}\n`);
}

function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
