// Owns `plexus prompts`: the prompts of servers and their arguments.

import type { ListedPrompt } from '../../catalog/resources/prompts.ts';
import type { Command } from '../command.ts';
import { rejectExtra } from '../positionals.ts';
import { firstLine, printable, table } from '../render/text.ts';
import { withConnectedServers } from '../with-connected-servers.ts';
import { notReadyServers, unlistedText, warnOfProblems } from '../with-runtime.ts';

export const prompts: Command = {
  usage: 'prompts [SERVER]',
  options: {},
  examples: ['prompts', 'prompts notes --json'],
  async run(context) {
    const [server, extra] = context.positionals;
    rejectExtra(extra);
    return withConnectedServers(context, server, async (runtime, diagnostics) => {
      const listed = await context.waitFor('listing the prompts', runtime.prompts.list({ server }));
      const problems = runtime.prompts.problems({ server });
      warnOfProblems(problems, context);
      const unlisted = unlistedText('prompts', problems);
      return {
        data: {
          prompts: listed.map(({ definition: _definition, ...rest }) => rest),
          notReady: notReadyServers(runtime),
          problems,
          diagnostics,
        },
        text: (paint) =>
          listed.length === 0
            ? (unlisted ??
              (server === undefined ? 'No server has prompts.' : printable(`Server "${server}" has no prompts.`)))
            : table(
                ['SERVER', 'NAME', 'ARGUMENTS', 'DESCRIPTION'],
                listed.map((each) => [
                  { text: each.server },
                  { text: each.name, paint: paint.bold },
                  { text: firstLine(takenBy(each), 60) },
                  { text: each.description ?? each.title ?? '', cut: 80, paint: paint.dim },
                ]),
                paint,
              ),
        ...(unlisted !== undefined && listed.length === 0 && { exitCode: 4 }),
      };
    });
  },
};

/** Optional arguments are in brackets. */
function takenBy(prompt: ListedPrompt): string {
  return prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(' ');
}
