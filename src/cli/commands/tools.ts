// Owns `plexus tools`: the catalog, as a model would see it.

import type { Tool } from '../../model/tool.ts';
import { type Command, UsageError } from '../command.ts';
import { firstLine, table } from '../render/text.ts';
import { complainOf, requireServer, withRuntime } from '../with-runtime.ts';

export const tools: Command = {
  usage: 'tools [SERVER] [--live]',
  options: { live: { type: 'boolean' } },
  help: { live: 'connect, instead of answering from the cache (this version has no cache: it always connects)' },
  async run(context) {
    const [server, extra] = context.positionals;
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
    return withRuntime(context, server === undefined ? {} : { only: [server] }, async (runtime, diagnostics) => {
      complainOf(diagnostics, context);
      if (server !== undefined) requireServer(runtime, server);
      const found = runtime.turn().tools;
      return {
        data: { tools: found.map(toolData), diagnostics },
        text: (paint) =>
          found.length === 0
            ? 'No tools. See which servers are up with: plexus list'
            : table(
                ['NAME', 'DESCRIPTION'],
                found.map(({ name, description }) => [
                  { text: name, paint: paint.bold },
                  { text: firstLine(description, 100) },
                ]),
                paint,
              ),
      };
    });
  },
};

function toolData({ name, id, freshness, description, inputSchema, definition }: Tool) {
  const { outputSchema, annotations, title } = definition;
  return { name, ...id, freshness, title, description, inputSchema, outputSchema, annotations };
}
