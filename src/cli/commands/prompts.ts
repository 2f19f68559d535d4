// Owns `plexus prompts`: what servers offer as ready-made instructions, and what each takes.

import type { ListedPrompt } from '../../catalog/resources/prompts.ts';
import { type Command, UsageError } from '../command.ts';
import { firstLine, printable, table } from '../render/text.ts';
import { withOffers } from '../with-offers.ts';
import { absentFrom, complainOfProblems } from '../with-runtime.ts';

export const prompts: Command = {
  usage: 'prompts [SERVER]',
  options: {},
  examples: ['prompts', 'prompts notes --json'],
  async run(context) {
    const [server, extra] = context.positionals;
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
    return withOffers(context, server, async (runtime, diagnostics) => {
      const listed = await context.waitFor('listing the prompts', runtime.prompts.list({ server }));
      const problems = runtime.prompts.problems({ server });
      complainOfProblems(problems, context);
      return {
        data: {
          prompts: listed.map(({ definition: _definition, ...rest }) => rest),
          notReady: absentFrom(runtime),
          problems,
          diagnostics,
        },
        text: (paint) =>
          listed.length === 0
            ? server === undefined
              ? 'No server has prompts.'
              : printable(`Server "${server}" has no prompts.`)
            : table(
                ['SERVER', 'NAME', 'TAKES', 'DESCRIPTION'],
                listed.map((each) => [
                  { text: each.server },
                  { text: each.name, paint: paint.bold },
                  { text: firstLine(takenBy(each), 60) },
                  { text: firstLine(each.description ?? each.title ?? '', 80), paint: paint.dim },
                ]),
                paint,
              ),
      };
    });
  },
};

/** What may be left out stands in brackets. */
function takenBy(prompt: ListedPrompt): string {
  return prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(' ');
}
