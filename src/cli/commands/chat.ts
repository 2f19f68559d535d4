// Owns `plexus chat` as help shows it. `chat/` does the work, and is loaded when the command runs.

import { type Command, UsageError } from '../command.ts';
import { modelHelp, modelOptions } from '../model-options.ts';

export const chat: Command = {
  usage: 'chat [PROMPT …] [--continue | --session ID] [options]\n  plexus chat --list-models',
  options: {
    ...modelOptions,
    continue: { type: 'boolean' },
    session: { type: 'string' },
    'list-models': { type: 'boolean' },
  },
  words: {
    PROMPT: 'answered once; without it you talk in the terminal, or the prompt is read from a pipe',
    '-': 'as the last word: what comes from the pipe is added to the prompt',
  },
  help: {
    ...modelHelp,
    continue: 'go on with the last conversation about this folder',
    'session ID': 'go on with this conversation',
    'list-models': 'show the models that are reachable, also on model servers of this machine',
  },
  examples: [
    'chat                                  # talk; /help says what you can type',
    'chat "What is in notes.txt?"',
    'chat --provider ollama --model llama3.2 "Which tables are there?"',
    'chat "Review this change:" - < change.diff',
    'chat --continue "And the second one?" --json',
  ],
  async run(context) {
    const { values, positionals } = context;
    if (values['continue'] && values['session'] !== undefined)
      throw new UsageError('give --continue or --session, and not both');
    if (values['list-models'] && positionals.length > 0) throw new UsageError('--list-models takes no prompt');
    if (values['list-models']) return (await import('../model-of-context.ts')).listModelsFor(context);
    return (await import('../chat/run-chat.ts')).runChat(context);
  },
};
