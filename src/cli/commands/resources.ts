// Owns `plexus resources`: what servers offer to be read, and the templates by which more can be.

import type { Resource, ResourceTemplate } from '../../model/resource.ts';
import { type Command, type Paint, UsageError } from '../command.ts';
import { firstLine, printable, table } from '../render/text.ts';
import { withOffers } from '../with-offers.ts';
import { absentFrom, complainOfProblems } from '../with-runtime.ts';

export const resources: Command = {
  usage: 'resources [SERVER]',
  options: {},
  examples: ['resources', 'resources notes --json'],
  async run(context) {
    const [server, extra] = context.positionals;
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
    return withOffers(context, server, async (runtime, diagnostics) => {
      const work = Promise.all([runtime.resources.list({ server }), runtime.resources.templates({ server })]);
      const [{ resources: listed }, templates] = await context.waitFor('listing the resources', work);
      const problems = runtime.resources.problems({ server });
      complainOfProblems(problems, context);
      return {
        data: {
          resources: listed.map(withoutDefinition),
          templates: templates.map(withoutDefinition),
          notReady: absentFrom(runtime),
          problems,
          diagnostics,
        },
        text: (paint) =>
          listed.length + templates.length > 0
            ? drawn(listed, templates, paint)
            : server === undefined
              ? 'No server has resources.'
              : printable(`Server "${server}" has no resources.`),
      };
    });
  },
};

/** All of it that counts is there by name. */
const withoutDefinition = <Item extends Resource | ResourceTemplate>({ definition: _definition, ...rest }: Item) =>
  rest;

function drawn(listed: readonly Resource[], templates: readonly ResourceTemplate[], paint: Paint): string {
  const row = (address: string, type: string, { server, name, title, description }: Resource | ResourceTemplate) => [
    { text: server },
    { text: address, paint: paint.bold },
    { text: firstLine(type, 40) },
    { text: firstLine(description ?? title ?? name, 80), paint: paint.dim },
  ];
  const rows = [
    ...listed.map((each) => row(each.uri, each.mimeType ?? '', each)),
    ...templates.map((each) => row(each.uriTemplate, 'template', each)),
  ];
  return table(['SERVER', 'URI', 'TYPE', 'DESCRIPTION'], rows, paint);
}
