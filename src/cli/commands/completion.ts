// Owns `plexus completion`: the script for a shell, and the words that such a script asks for.

import { type Command, UsageError } from '../command.ts';
import { scripts, shells } from '../completion-scripts.ts';
import { rejectExtra } from '../positionals.ts';

export const completion: Command = {
  usage: 'completion (bash | zsh | fish)',
  options: {},
  examples: [
    'completion bash        # for ~/.bashrc: eval "$(plexus completion bash)"',
    'completion zsh         # for ~/.zshrc: eval "$(plexus completion zsh)"',
    'completion fish > ~/.config/fish/completions/plexus.fish',
  ],
  takesRest: true,
  async run(context) {
    const [what, extra] = context.positionals;
    rejectExtra(extra);
    if (what === 'words') {
      const { wordsAfter } = await import('../completion-words.ts');
      const words = await wordsAfter(context.rest, context);
      const lines = Buffer.from(words.map((word) => `${word}\n`).join(''));
      return { data: { words }, text: () => words.join('\n'), bytes: lines };
    }
    const shell = shells.find((each) => each === what);
    if (shell === undefined) throw new UsageError(`name a shell: ${shells.join(', ')}`);
    return { data: { shell, script: scripts[shell] }, text: () => scripts[shell] };
  },
};
