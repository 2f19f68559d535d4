// Owns `plexus connect` for the command line's sake: its help, and its options. `bin.ts` runs it without loading any of this.

import { connect } from '../../gateway/connect/connect.ts';
import { type Command, UsageError } from '../command.ts';

export const connectCommand: Command = {
  usage: 'connect [--profile NAME]',
  options: { profile: { type: 'string' } },
  help: { 'profile NAME': 'the profile of the client (default)' },
  examples: ['connect', 'connect --profile work'],
  takesNoConfig: true,
  async run({ values, positionals, env, home, cwd, stdin, warn }) {
    if (positionals.length > 0) throw new UsageError(`the word ${positionals[0]} is too many`);
    const profile = typeof values['profile'] === 'string' ? values['profile'] : undefined;
    const exitCode = await connect({
      ...{ env, home, cwd, profile, platform: process.platform, input: stdin, output: process.stdout },
      program: { command: process.execPath, args: [process.argv[1] ?? '', 'serve', '--until-idle'] },
      warn: (sentence) => warn(() => sentence),
    });
    return { data: undefined, text: () => '', exitCode };
  },
};
