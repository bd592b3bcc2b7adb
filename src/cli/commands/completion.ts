import { Argument, type Command } from 'commander';
import { exitCodes } from '../../domain/outcome.js';
import { COMPLETE } from '../complete.js';
import { type Cli, printJson } from '../io.js';
import { type JsonFlag, addJsonOption } from '../options.js';

/** Each hands the words up to the cursor to us, and takes a line a word. */
const scripts = {
  bash: `_backfill() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    [ -n "$word" ] && COMPREPLY+=("$(printf '%q' "$word")")
  done < <(backfill ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _backfill backfill
`,
  zsh: `#compdef backfill
_backfill() {
  local -a found
  found=("\${(@f)$(backfill ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  (( \${#found} )) && compadd -a found || _default
}
compdef _backfill backfill
`,
  fish: `function __backfill_complete
  set -l words (commandline -opc) (commandline -ct)
  backfill ${COMPLETE} $words[2..-1] 2>/dev/null
end
complete -c backfill -f -a '(__backfill_complete)'
`,
} as const;
const shells = Object.keys(scripts) as (keyof typeof scripts)[];

const examples = `
Completes commands, options and their values, and, where a worker answers within
a second, the names of tables and runs.

Examples:
  $ backfill completion bash >> ~/.bashrc
  $ backfill completion zsh >> ~/.zshrc
  $ backfill completion fish > ~/.config/fish/completions/backfill.fish
`;

export function addCompletionCommand(program: Command, cli: Cli): void {
  const command = program
    .command('completion')
    .description('Print the script with which a shell completes this command.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells));
  addJsonOption(command)
    .addHelpText('after', examples)
    .action((shell: keyof typeof scripts, flags: JsonFlag) => cli.exit(completion(cli, shell, flags)));
}

function completion({ io }: Cli, shell: keyof typeof scripts, { json }: JsonFlag): number {
  const script = scripts[shell];
  if (json) printJson(io, { shell, script });
  else io.stdout.write(script);
  return exitCodes.completed;
}
