// Owns `plexus resources`: the resources of servers and their resource templates.

import type { Resource, ResourceTemplate } from '../../model/resource.ts';
import type { Command, Paint } from '../command.ts';
import { rejectExtra } from '../positionals.ts';
import { firstLine, printable, table } from '../render/text.ts';
import { withConnectedServers } from '../with-connected-servers.ts';
import { notReadyServers, unlistedText, warnOfProblems } from '../with-runtime.ts';

export const resources: Command = {
  usage: 'resources [SERVER]',
  options: {},
  examples: ['resources', 'resources notes --json'],
  async run(context) {
    const [server, extra] = context.positionals;
    rejectExtra(extra);
    return withConnectedServers(context, server, async (runtime, diagnostics) => {
      const work = Promise.all([runtime.resources.list({ server }), runtime.resources.templates({ server })]);
      const [{ resources: listed }, templates] = await context.waitFor('listing the resources', work);
      const problems = runtime.resources.problems({ server });
      warnOfProblems(problems, context);
      const unlisted = unlistedText('resources', problems);
      return {
        data: {
          resources: listed.map(withoutDefinition),
          templates: templates.map(withoutDefinition),
          notReady: notReadyServers(runtime),
          problems,
          diagnostics,
        },
        text: (paint) =>
          listed.length + templates.length > 0
            ? resourcesText(listed, templates, paint)
            : (unlisted ??
              (server === undefined ? 'No server has resources.' : printable(`Server "${server}" has no resources.`))),
        ...(unlisted !== undefined && listed.length + templates.length === 0 && { exitCode: 4 }),
      };
    });
  },
};

/** The fields beside it already hold what matters of the server's raw definition. */
const withoutDefinition = <Item extends Resource | ResourceTemplate>({ definition: _definition, ...rest }: Item) =>
  rest;

function resourcesText(listed: readonly Resource[], templates: readonly ResourceTemplate[], paint: Paint): string {
  const row = (address: string, type: string, { server, name, title, description }: Resource | ResourceTemplate) => [
    { text: server },
    { text: address, paint: paint.bold },
    { text: firstLine(type, 40) },
    { text: description ?? title ?? name, cut: 80, paint: paint.dim },
  ];
  const rows = [
    ...listed.map((each) => row(each.uri, each.mimeType ?? '', each)),
    ...templates.map((each) => row(each.uriTemplate, 'template', each)),
  ];
  return table(['SERVER', 'URI', 'TYPE', 'DESCRIPTION'], rows, paint);
}
