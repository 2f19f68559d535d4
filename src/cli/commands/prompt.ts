// Owns `plexus prompt`: prints one prompt, which its server fills in.

import type { PromptMessages } from '../../model/resource.ts';
import { extractText } from '../../shaping/text.ts';
import { type Command, type Paint, UsageError } from '../command.ts';
import { printable } from '../render/text.ts';
import { withConnectedServers } from '../with-connected-servers.ts';

export const prompt: Command = {
  usage: 'prompt SERVER NAME [key=value …]',
  options: {},
  examples: ['prompt notes summarize topic="the last week"'],
  async run(context) {
    const [server, name, ...words] = context.positionals;
    if (server === undefined || name === undefined) throw new UsageError('give a server and a prompt');
    const args = Object.fromEntries(words.map(argumentOf));
    return withConnectedServers(context, server, async (runtime) => {
      // List the prompts first: then Plexus itself can name missing and unknown arguments.
      const listed = await context.waitFor('listing the prompts', runtime.prompts.list({ server }));
      const work = runtime.prompts.get(server, name, args, { signal: context.signal });
      const found = await context.waitFor(`filling in ${name}`, work);
      const taken = listed.find((each) => each.name === name)?.arguments.map((each) => each.name);
      const problems = [...found.problems, ...(taken ? unknownArguments(args, taken) : [])];
      if (problems.length > 0) context.warn((paint) => paint.yellow(problems.map(printable).join('\n')));
      return {
        data: { ...found, problems },
        text: (paint) => textOf(found, context.toTerminal ? printable : asItIs, paint),
      };
    });
  },
};

function argumentOf(word: string): [string, string] {
  const at = word.indexOf('=');
  if (at <= 0) throw new UsageError(`"${word}" is not an argument; write key=value`);
  return [word.slice(0, at), word.slice(at + 1)];
}

/** Only warnings: the server decides whether it accepts further arguments. */
function unknownArguments(args: Readonly<Record<string, string>>, taken: readonly string[]): readonly string[] {
  const known = taken.length === 0 ? 'it takes none' : `it takes ${taken.join(', ')}`;
  return Object.keys(args).flatMap((name) =>
    taken.includes(name) ? [] : [`the prompt has no argument "${name}"; ${known}`],
  );
}

const asItIs = (text: string) => text;

/** Roles are shown unless the prompt is a single user message. */
function textOf({ messages }: PromptMessages, clean: (text: string) => string, paint: Paint): string {
  const isPlain = messages.length === 1 && messages.every(({ role }) => role === 'user');
  return messages
    .map(({ role, content }) => {
      const text = clean(extractText([content], undefined).text);
      return isPlain ? text : `${paint.dim(`[${role}]`)}\n${text}`;
    })
    .join('\n');
}
