// Owns `plexus list`: every server with its state, tools and problems.

import type { ServerStatus } from '../../connection/status.ts';
import type { Tool } from '../../model/tool.ts';
import type { Command, Paint } from '../command.ts';
import { rejectExtra } from '../positionals.ts';
import { ageText } from '../render/age.ts';
import { diagnosticsText } from '../render/diagnostics.ts';
import { remarksOn } from '../render/server-remarks.ts';
import { type Cell, indent, printable, table } from '../render/text.ts';
import { startupFor, withRuntime } from '../with-runtime.ts';

export const list: Command = {
  usage: 'list [--live]',
  options: { live: { type: 'boolean' } },
  help: { live: 'connect to every server, instead of showing cached tools' },
  async run(context) {
    const [extra] = context.positionals;
    rejectExtra(extra);
    const startup = startupFor(context);
    return withRuntime(context, { required: 'report', startup }, async (runtime, diagnostics) => {
      const servers = runtime.status();
      const reduced = reducedIn(runtime.getTools());
      return {
        data: { servers: servers.map((each) => ({ ...each, ...countIn(reduced, each) })), diagnostics },
        text: (paint) =>
          [
            serversText(
              servers,
              reduced,
              diagnostics.some(({ severity }) => severity === 'error'),
              paint,
            ),
            diagnosticsText(diagnostics, paint),
          ]
            .filter(Boolean)
            .join('\n\n'),
      };
    });
  },
};

function serversText(servers: readonly ServerStatus[], reduced: Counts, isBroken: boolean, paint: Paint): string {
  if (servers.length === 0)
    return isBroken
      ? 'No server could be read; see the errors below.'
      : 'No servers are configured here. Add one with: plexus add NAME -- COMMAND';
  const rows = servers.map((server): Cell[] => [
    { text: server.name, paint: paint.bold },
    { text: server.state, paint: colorOf(server, paint) },
    { text: server.transport },
    { text: server.scope },
    { text: countOf(server) },
    { text: listedText(server) },
  ]);
  return [
    table(['NAME', 'STATE', 'TRANSPORT', 'SCOPE', 'TOOLS', 'LISTED'], rows, paint),
    ...servers.flatMap((each) => remarks(each, reduced.get(each.name) ?? 0, paint)),
  ].join('\n');
}

/** `3 of 8` if tool filters hide some of the server's tools. */
function countOf({ status, toolCount, toolsOffered }: ServerStatus): string {
  if (status !== 'connected' && toolCount === 0) return '–';
  return toolsOffered === undefined ? String(toolCount) : `${toolCount} of ${toolsOffered}`;
}

function listedText({ freshness, listedAt }: ServerStatus): string {
  // `listedAt` is 0 for a connected server whose tools were never listed.
  return freshness === undefined || !listedAt ? '' : freshness === 'live' ? 'now' : ageText(listedAt);
}

type Counts = ReadonlyMap<string, number>;

/** By server: how many tools a model sees in a reduced form. */
function reducedIn(tools: readonly Tool[]): Counts {
  const counts = new Map<string, number>();
  for (const { id, reduced } of tools) if (reduced) counts.set(id.server, (counts.get(id.server) ?? 0) + 1);
  return counts;
}

function countIn(reduced: Counts, { name }: ServerStatus) {
  const reducedTools = reduced.get(name);
  return reducedTools === undefined ? {} : { reducedTools };
}

function remarks(server: ServerStatus, reduced: number, paint: Paint): string[] {
  const lines = remarksOn(server, reduced);
  if (lines.length === 0) return [];
  return ['', paint.bold(printable(server.name)), ...lines.map((line) => indent(printable(line)))];
}

function colorOf({ status }: ServerStatus, paint: Paint) {
  if (status === 'connected') return paint.green;
  return status === 'failed' ? paint.red : paint.yellow;
}
