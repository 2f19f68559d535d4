// Owns `plexus agent` as help shows it. `run-agent.ts` does the work, and is loaded when the command runs.

import type { Command } from '../command.ts';
import { modelHelp, modelOptions } from '../model-options.ts';

export const agent: Command = {
  usage: 'agent [--port N [--no-token]] [--name NAME] [--allow-cwd DIR] [options]',
  options: {
    port: { type: 'string' },
    'no-token': { type: 'boolean' },
    name: { type: 'string' },
    'allow-cwd': { type: 'string', multiple: true },
    ...modelOptions,
  },
  help: {
    'port N': 'serve over HTTP on this machine at this port, 0 for any free one; without it, over stdio',
    'no-token': 'with --port: let every program of this machine in',
    'name NAME': 'the name of the tool; the other one is NAME-reply (plexus)',
    'allow-cwd DIR': 'a folder that clients may work in beside this one; can be repeated',
    ...modelHelp,
    'model NAME': "the model, as its provider names it; sampling is the client's own",
  },
  examples: ['agent', 'agent --name cocode', 'agent --port 4020', 'agent --port 4020 --no-token'],
  run: async (context) => (await import('../run-agent.ts')).runAgent(context),
};
